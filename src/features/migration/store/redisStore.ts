import { withTimeout } from "../../../concurrency/withTimeout.ts";
import { watchRedis } from "../../sharedCache/watch.ts";
import { openRedisState } from "./redisState.ts";
import { CHANGES } from "./redisScripts.ts";
import { expectIn, moveIn } from "./sharedChange.ts";
import type { MigrationState, OnStoreEvent, StateStore } from "./stateStore.ts";
import { withPatience } from "./withPatience.ts";

export type RedisStoreSettings = {
  url: string;
  /** Milliseconds that a change waits at most. */
  timeout: number;
  onEvent: OnStoreEvent;
  /** The endpoints that exist; others in Redis are left alone, and told. */
  endpoints?: readonly string[];
  /** Milliseconds that Redis may take to answer at the start. */
  patience?: number;
};

/**
 * Kept in Redis, so that all instances agree. Without Redis the last known state holds and nothing can be changed. Rejects where Redis does
 * not answer at the start: what was set at run time is not known then, and must not be guessed at.
 */
export const redisStore = async ({
  url,
  timeout,
  onEvent,
  endpoints,
  patience = 5000,
}: RedisStoreSettings): Promise<StateStore> => {
  const listeners: ((state: MigrationState) => void)[] = [];
  let isClosed = false;

  const watch = watchRedis({
    url,
    channel: CHANGES,
    look: () => redis.sync(),
    onStatus: (status, about) => onEvent(`migration_store_${status}`, about),
  });
  const redis = openRedisState({
    run: watch.run,
    endpoints,
    onEvent,
    onChange(state) {
      if (!isClosed) for (const listener of listeners) listener(state);
    },
  });

  const change = async (make: Parameters<typeof redis.change>[0]): Promise<boolean> => {
    if (isClosed) throw new Error("the store is closed");
    let isOver = false;
    const done = await withTimeout(
      watch.inTurn(() => redis.change(make, () => isOver)),
      timeout,
    );
    if (done !== "late") return done;
    isOver = true;
    throw new Error(`Redis did not answer within ${timeout} ms`);
  };

  const close = () => {
    isClosed = true;
    return watch.close(timeout);
  };

  try {
    await withPatience(() => redis.sync(), patience);
  } catch (error) {
    await close();
    throw new Error(`REDIS_URL: ${new URL(url).host} cannot be used: ${(error as Error).message}`, { cause: error });
  }
  watch.begin();

  return {
    state: () => redis.known(),
    move: (...about) => change((state) => moveIn(state, ...about)),
    expect: (entry) =>
      change((state, unreadable) => (unreadable.expected.includes(entry.id) ? undefined : expectIn(state, entry))),
    onChange: (listener) => void listeners.push(listener),
    close,
  };
};
