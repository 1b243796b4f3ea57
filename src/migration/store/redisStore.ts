import { ClientOfflineError } from "redis";
import { bounded } from "../../bounded.ts";
import { connectRedis } from "../../redis/connection.ts";
import { openRedisState } from "./redisState.ts";
import { CHANGES } from "./redisScripts.ts";
import { expectIn, moveIn } from "./sharedChange.ts";
import type { MigrationState, OnStoreEvent, StateStore } from "./stateStore.ts";
import { openTurns } from "./turns.ts";
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

/** Milliseconds between two looks: a message may be lost. */
const POLL = 1000;
/** Milliseconds without an answer until the connections are made anew. */
const PATIENCE = 3000;

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
  const inTurn = openTurns();
  const listeners: ((state: MigrationState) => void)[] = [];
  let status: "new" | "up" | "lost" | "closed" = "new";
  let triedAt = performance.now();
  let isWaiting = false;
  let broken: Error | undefined;

  const connection = connectRedis({
    url,
    channels: [CHANGES],
    onMessage: () => void look(),
    onListening() {
      broken = undefined;
      void look();
    },
    onDeaf: () => undefined,
    // Told by what is asked meanwhile and fails.
    onError: (error) => (broken = error),
  });
  const redis = openRedisState({
    run: (...about) =>
      connection.run(...about).catch((error: unknown) => {
        // That the client is offline says less than why.
        const why = error instanceof ClientOfflineError ? (broken?.message ?? "it does not answer") : undefined;
        throw why === undefined ? error : new Error(why, { cause: error });
      }),
    endpoints,
    onEvent,
    onChange(state) {
      if (status !== "closed") for (const listener of listeners) listener(state);
    },
  });

  const became = (next: "up" | "lost", why?: string) => {
    if (status !== next && status !== "closed") {
      if (status !== "new") onEvent(`migration_store_${next}`, why === undefined ? {} : { why });
      status = next;
    }
  };

  /** What has changed meanwhile is seen by the look that still waits for its turn. */
  const look = async (): Promise<void> => {
    if (isWaiting || status === "new" || status === "closed") return;
    isWaiting = true;
    try {
      await inTurn(() => {
        isWaiting = false;
        return redis.sync();
      });
      triedAt = performance.now();
      became("up");
    } catch (error) {
      became("lost", (error as Error).message);
    }
  };

  const change = async (make: Parameters<typeof redis.change>[0]): Promise<boolean> => {
    if (status === "closed") throw new Error("the store is closed");
    let isOver = false;
    const done = await bounded(
      inTurn(() => redis.change(make, () => isOver)),
      timeout,
    );
    if (done !== "late") return done;
    isOver = true;
    throw new Error(`Redis did not answer within ${timeout} ms`);
  };

  const end = async () => {
    status = "closed";
    clearInterval(timer);
    await bounded(
      inTurn(async () => undefined),
      timeout,
    );
    await connection.close();
  };
  const timer = setInterval(() => {
    if (performance.now() - triedAt > PATIENCE && status !== "new") {
      triedAt = performance.now();
      connection.renew();
    }
    void look();
  }, POLL);
  timer.unref();

  try {
    await withPatience(() => redis.sync(), patience);
  } catch (error) {
    await end();
    throw new Error(`REDIS_URL: ${new URL(url).host} cannot be used: ${(error as Error).message}`, { cause: error });
  }
  became("up");

  return {
    state: () => redis.known(),
    move: (...about) => change((state) => moveIn(state, ...about)),
    expect: (entry) =>
      change((state, unreadable) => (unreadable.expected.includes(entry.id) ? undefined : expectIn(state, entry))),
    onChange: (listener) => void listeners.push(listener),
    close: end,
  };
};
