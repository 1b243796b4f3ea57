import type { MigrationState, StateStore } from "./stateStore.ts";

const MOST_MOVES = 1000;

/** Keeps it as long as the process lives. */
export const memoryStore = (): StateStore => {
  const state: MigrationState = { stages: {}, audit: [], expected: [] };
  return {
    state: () => state,
    async move(endpoint, to, move, seen) {
      if (state.stages[endpoint]?.since !== seen) return false;
      state.stages = { ...state.stages, [endpoint]: to };
      state.audit = [move, ...state.audit].slice(0, MOST_MOVES);
      return true;
    },
    async expect(entry) {
      if (state.expected.some(({ id }) => id === entry.id)) return false;
      state.expected = [...state.expected, entry];
      return true;
    },
    onChange: () => undefined,
    close: async () => undefined,
  };
};
