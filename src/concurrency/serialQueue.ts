/** Runs one task after the other, whatever becomes of the one before. */
export type SerialQueue = <T>(task: () => Promise<T>) => Promise<T>;

export const openSerialQueue = (): SerialQueue => {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const turn = last.then(task);
    last = turn.catch(() => undefined);
    return turn;
  };
};
