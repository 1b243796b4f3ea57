import { afterExpect, afterMove, nothingSet } from "./nextState.ts";
import type { MigrationState, StateStore } from "./stateStore.ts";

/** Where neither a directory nor Redis is given: what was set is gone with the process. */
export const memoryStore = (): StateStore => {
  let state = nothingSet;
  const become = (next: MigrationState | undefined): boolean => {
    state = next ?? state;
    return next !== undefined;
  };
  return {
    state: () => state,
    move: async (...about) => become(afterMove(state, ...about)),
    expect: async (entry) => become(afterExpect(state, entry)),
    // Nobody else can change it.
    onChange: () => undefined,
    close: () => Promise.resolve(),
  };
};
