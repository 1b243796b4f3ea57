/** Which questions of a sequence are done: all below `upTo`, and these beyond. */
export type DoneState = { upTo: number; beyond: number[] };

export type Done = { has(index: number): boolean; add(index: number): void; count(): number; state(): DoneState };

/** Questions end out of order, but never far from it: what is kept does not grow with their number. */
export const openDone = (state: DoneState = { upTo: 0, beyond: [] }): Done => {
  let { upTo } = state;
  const beyond = new Set(state.beyond);
  return {
    has: (index) => index < upTo || beyond.has(index),
    add(index) {
      beyond.add(index);
      while (beyond.delete(upTo)) upTo++;
    },
    count: () => upTo + beyond.size,
    state: () => ({ upTo, beyond: [...beyond] }),
  };
};
