import { watchRedis } from "../../sharedCache/watch.ts";
import { idsOf } from "../rows.ts";
import { isNothing } from "./change.ts";
import type { OpenIndexStore } from "./indexStore.ts";
import { openPendingChange } from "./pendingChange.ts";
import { openRedisIndex } from "./redisIndex.ts";
import { privateNames } from "./redisScripts.ts";
import { openWalkLease } from "./walkLease.ts";

export type RedisStoreSettings = {
  url: string;
  /** Which legacy it is of. */
  scope: string;
  /** Milliseconds between two looks. */
  beat?: number;
  /** Milliseconds without an answer until the connections are made anew. */
  patience?: number;
  /** Milliseconds that an instance which says nothing more still counts as the one that walks. */
  lease?: number;
};

/** Beats that an empty Redis is left to those who may know what was in it. */
const DEFERENCE = 3;
/** Milliseconds that a stop waits for what is written last. */
const LAST = 2000;

/**
 * Kept in Redis, so that all instances know the same rows and one of them walks. Whatever Redis does, each goes on with what it knows: what
 * it learns meanwhile waits, and is written when Redis is back.
 */
export const redisStore =
  ({ url, scope, beat, patience, lease: ms = 10_000 }: RedisStoreSettings): OpenIndexStore =>
  ({ snapshot, onChange, onEvent }) => {
    const names = privateNames(scope);
    let closing: Promise<void> | undefined;
    let emptyBeats = 0;

    const watch = watchRedis({
      url,
      channel: names.changes,
      onMessage: (text) => index.heard(text),
      look: (isBeat) => look(isBeat),
      onStatus: (status, about) => onEvent(`private_index_store_${status}`, about),
      beat,
      patience,
    });
    const index = openRedisIndex({
      run: watch.run,
      names,
      onEvent,
      onChange(read, isWhole) {
        const change = pending.over(read, isWhole);
        if (closing === undefined && (isWhole || !isNothing(change))) onChange(change, isWhole);
      },
    });
    const lease = openWalkLease(watch.run, names, ms);
    const pending = openPendingChange(() => lease.isHeld());
    const flush = () => pending.send((change) => index.add(change));

    const look = async (isBeat: boolean) => {
      await index.read(isBeat);
      if (isBeat && index.state() === "never") emptyBeats++;
      if (index.state() !== "never" || emptyBeats > DEFERENCE) await lease.renew();
      if (lease.isHeld() && index.state() !== "there") await index.begin(snapshot());
      if (pending.isUrgent() || isBeat) await flush();
    };
    watch.begin();

    return Promise.resolve({
      kind: "redis",
      save(change) {
        if (closing !== undefined) return;
        pending.add(change);
        if (idsOf(change).length > 0) void watch.look();
      },
      mayWalk: () => closing === undefined && lease.isHeld(),
      close() {
        // Without Redis neither can be done: another instance walks when the lease has run out.
        return (closing ??= watch.close(LAST, async () => {
          await flush().catch(() => undefined);
          await lease.letGo().catch(() => undefined);
        }));
      },
    });
  };
