import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { openSerialQueue } from "./serialQueue.ts";
import { temporary, withTimeout } from "../../src/operation/index.ts";
import { channelPrefix, connectRedis, type RunScript } from "./redis.ts";
import { redisClaim } from "./redisClaim.ts";
import { PREFIX, RedisHash } from "./redisHash.ts";
import { openHealth, type StoreSettings, type Stores, type StoresSettings } from "./keyValueStore.ts";

/** Milliseconds between two reads of the changes of others: messages may be lost. */
const INTERVAL = 5000;
/** Milliseconds from a message to the read. The read covers the messages that come meanwhile. */
const DELAY = 100;
/** Milliseconds for which a feature waits for Redis at the start if it can do without. */
const SHORT_PATIENCE = 1000;
/** The beginning of Redis's error for a wrong user, password or database. Other errors, such as `LOADING`, may pass. */
const WRONG_SETTING = /^(NOAUTH|NOPERM|WRONGPASS|ERR DB)\b/;
/** A write that changes nothing: it fails if Redis refuses writes. */
const TOUCH = "return redis.call('PERSIST', KEYS[1])";

/**
 * Opens the stores that all gateways on one Redis share. Without Redis each gateway goes on with the values that it
 * knows, and updates are refused.
 */
export const redisStores = ({
  url,
  onEvent,
  timeout = 2000,
  patience = 5000,
}: Pick<StoresSettings, "onEvent" | "timeout" | "patience"> & { url: string }): Stores => {
  const gateway = randomUUID();
  /** The channel of changes. A message is the id of the gateway that made the change. */
  const channel = `${channelPrefix(url)}state:changes`;
  const hashes: Pick<RedisHash<unknown>, "readChanges">[] = [];
  const health = openHealth(onEvent);
  const inTurn = openSerialQueue();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const redis = connectRedis({
    url,
    channels: [channel],
    onMessage(from) {
      if (from !== gateway) lookSoon();
    },
    onListening: () => lookSoon(),
    onDeaf: () => lookSoon(),
    onSetAside: (key) => onEvent("redis_key_set_aside", { key }),
  });

  const run: RunScript = async (...about) => {
    const reply = await withTimeout(redis.run(...about), timeout);
    if (reply !== "late") return reply;
    redis.renew();
    throw new Error(`Redis did not answer within ${timeout} ms`);
  };
  const report = (error?: Error): void => {
    if (!isClosed) health(error);
  };
  const look = async (): Promise<void> => {
    // A message from now on needs another read.
    timer = undefined;
    for (const hash of hashes) await hash.readChanges();
    await run(TOUCH, [PREFIX], []);
  };
  const lookSoon = (): void => {
    if (isClosed) return;
    timer ??= setTimeout(() => void inTurn(look).then(() => report(), report), DELAY).unref();
  };
  const looking = setInterval(lookSoon, INTERVAL).unref();

  return {
    kind: "redis",
    async open<T>(settings: StoreSettings<T>) {
      const hash = new RedisHash<T>({ gateway, channel, run, onEvent, report, isClosed: () => isClosed }, settings);
      const { host } = new URL(url);
      await readFirst(hash, { host, patience, isNeeded: settings.needsRedis === true });
      hashes.push(hash);
      return hash.store;
    },
    claim(work) {
      const hasClaim = redisClaim(run, gateway, work);
      return async () => (await hasClaim()) && !isClosed;
    },
    run: redis.run,
    async close() {
      isClosed = true;
      clearInterval(looking);
      clearTimeout(timer);
      redis.close();
    },
  };
};

/**
 * Reads a hash at the start. If the hash is needed, the start waits for Redis for `patience` milliseconds.
 *
 * @throws With `REDIS_URL` and the reason, if a needed hash, or a vital value, cannot be read.
 */
const readFirst = async <T>(
  hash: RedisHash<T>,
  { host, patience, isNeeded }: { host: string; patience: number; isNeeded: boolean },
): Promise<void> => {
  const refuse = (why: string): Error => new Error(`REDIS_URL: ${host} cannot be used: ${why}`);
  const first = await firstOf(() => hash.read(), isNeeded ? patience : SHORT_PATIENCE);
  if (first instanceof Error && isNeeded)
    throw WRONG_SETTING.test(first.message) ? refuse(first.message) : temporary(refuse(first.message));
  try {
    await hash.take(first, true);
  } catch (error) {
    throw refuse(`the hash ${hash.key} has a field that is not what was written here: ${(error as Error).message}`);
  }
};

/** The result of `task` once Redis answers; the last error if it does not answer within `patience` milliseconds. */
const firstOf = async (task: () => Promise<unknown>, patience: number): Promise<unknown> => {
  const until = performance.now() + patience;
  let why = new Error("it does not answer");
  for (;;) {
    const left = Math.max(1, until - performance.now());
    const result = await withTimeout(task(), left).catch((error: Error) => error);
    if (!(result instanceof Error) && result !== "late") return result;
    if (result instanceof Error) why = result;
    if (performance.now() >= until) return why;
    await sleep(50);
  }
};
