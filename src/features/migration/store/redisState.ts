import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Script } from "../../sharedCache/scripts.ts";
import { reconcile } from "./reconcile.ts";
import { CHANGES, migrationKeys, migrationScripts } from "./redisScripts.ts";
import { argumentsOf, restoreIn, type SharedChange } from "./sharedChange.ts";
import { nothingShared, plain, readStored, type SharedState, type Stored } from "./sharedState.ts";
import type { MigrationState, OnStoreEvent } from "./stateStore.ts";

/** What this instance knows of the state in Redis. Its calls come one after the other. */
export type RedisState = {
  /** The same object until something changes. */
  known(): MigrationState;
  /** Takes over what others have changed, and puts back what Redis has lost. */
  sync(): Promise<void>;
  /** Writes what is made of the state as it is in Redis; false where nothing is made of it. Given up as soon as `isOver`. */
  change(
    make: (state: SharedState, stored: Stored["unreadable"]) => SharedChange | undefined,
    isOver: () => boolean,
  ): Promise<boolean>;
};

export type RedisStateSettings = {
  run: (script: Script, keys: readonly string[], args: readonly string[]) => Promise<unknown>;
  onEvent: OnStoreEvent;
  endpoints?: readonly string[] | undefined;
  /** After a change that nobody here was told of. */
  onChange: (state: MigrationState) => void;
};

/** Others who change it at the same moment win so often at most. */
const ROUNDS = 10;
const BUSY = "others change it all the time";

export const openRedisState = ({ run, onEvent, endpoints, onChange }: RedisStateSettings): RedisState => {
  let shared = nothingShared;
  let known = plain(shared);
  let fingerprint = "";
  let unreadable: Stored["unreadable"] = { stages: [], audit: [], expected: [] };

  const become = (state: SharedState, isTold: boolean) => {
    shared = state;
    const next = plain(state);
    if (isDeepStrictEqual(next, known)) return;
    known = next;
    if (!isTold) onChange(known);
  };

  const told = new Set<string>();
  const tell = (event: "migration_store_unreadable" | "migration_store_unknown", about: Record<string, string>) => {
    const once = JSON.stringify([event, about]);
    if (!told.has(once)) onEvent(event, about);
    told.add(once);
  };
  const tellOf = (stored: Stored) => {
    for (const endpoint of stored.unreadable.stages) tell("migration_store_unreadable", { endpoint });
    for (const id of stored.unreadable.expected) tell("migration_store_unreadable", { expected: id });
    if (stored.unreadable.audit.length > 0) tell("migration_store_unreadable", { audit: "a line" });
    for (const endpoint of Object.keys(stored.stages))
      if (endpoints?.includes(endpoint) === false) tell("migration_store_unknown", { endpoint });
  };

  /** The new fingerprint; nothing where what it was made from is not there any more. */
  const write = async (from: string, change: SharedChange): Promise<string | undefined> => {
    const version = `${change.after.version}.${randomUUID()}`;
    const reply = await run(migrationScripts.change, migrationKeys, [from, version, CHANGES, ...argumentsOf(change)]);
    return reply instanceof Buffer ? reply.toString() : undefined;
  };

  const sync = async (): Promise<void> => {
    for (let i = 0; i < ROUNDS; i++) {
      const reply = await run(migrationScripts.read, migrationKeys, [fingerprint]);
      if (reply === null) return;
      const stored = readStored(reply);
      const found = reconcile(shared, stored);
      const { state, lost, overtaken } = found;
      tellOf(stored);
      for (const endpoint of overtaken) onEvent("migration_store_overtaken", { endpoint });
      unreadable = stored.unreadable;
      become(state, false);
      const change = restoreIn(found, stored);
      // Until it is put back, what is in Redis does not count as read.
      const after = change === undefined ? stored.fingerprint : await write(stored.fingerprint, change);
      if (after === undefined) continue;
      fingerprint = after;
      if (change === undefined) return;
      become(change.after, false);
      return onEvent("migration_store_restored", lost);
    }
    throw new Error(BUSY);
  };

  return {
    known: () => known,
    sync,
    async change(make, isOver) {
      for (let i = 0; i < ROUNDS; i++) {
        await sync();
        if (isOver()) throw new Error("it was given up");
        const change = make(shared, unreadable);
        if (change === undefined) return false;
        const after = await write(fingerprint, change);
        if (after === undefined) continue;
        fingerprint = after;
        // Whoever gave it up was told that it cannot be kept.
        become(change.after, !isOver());
        return true;
      }
      throw new Error(BUSY);
    },
  };
};
