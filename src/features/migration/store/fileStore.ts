import { holdDirectory, unusable } from "../../../store/dataDirectory.ts";
import { openSerialQueue } from "../../../concurrency/serialQueue.ts";
import { afterExpect, afterMove } from "./nextState.ts";
import { readState, writeState } from "./stateFile.ts";
import type { MigrationState, OnStoreEvent, StateStore } from "./stateStore.ts";

export type FileStoreSettings = {
  onEvent: OnStoreEvent;
  /** The endpoints that exist; others in the file are left alone, and told. */
  endpoints?: readonly string[];
};

/** Kept in `migration.json` in a directory that is this process's alone. Rejects where that cannot be used. */
export const fileStore = async (directory: string, { onEvent, endpoints }: FileStoreSettings): Promise<StateStore> => {
  const unlock = await holdDirectory(directory, "migration.lock");
  let state: MigrationState;
  try {
    state = await readState(directory);
    // As it is: a disk that is full or read-only is found now, not at the first move.
    await writeState(directory, state);
  } catch (error) {
    unlock();
    throw unusable(directory, error as Error);
  }
  for (const endpoint of Object.keys(state.stages))
    if (endpoints?.includes(endpoint) === false) onEvent("migration_store_unknown", { endpoint });

  const inTurn = openSerialQueue();
  let isClosed = false;
  const become = (make: () => MigrationState | undefined): Promise<boolean> =>
    inTurn(async () => {
      if (isClosed) throw new Error("the store is closed");
      const next = make();
      if (next === undefined) return false;
      try {
        await writeState(directory, next);
      } catch (error) {
        onEvent("migration_store_error", { why: (error as Error).message });
        throw error;
      }
      state = next;
      return true;
    });

  return {
    state: () => state,
    move: (...about) => become(() => afterMove(state, ...about)),
    expect: (entry) => become(() => afterExpect(state, entry)),
    // Nobody else can change it.
    onChange: () => undefined,
    close: () =>
      inTurn(async () => {
        if (!isClosed) unlock();
        isClosed = true;
      }),
  };
};
