import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { openSerialQueue } from "./serialQueue.ts";
import { temporary, withTimeout } from "../../src/operation/index.ts";
import { channelPrefix, connectRedis, type RunScript } from "./redis.ts";
import {
  openHealth,
  storeIn,
  type StoreSettings,
  type Stores,
  type StoresSettings,
  type WriteText,
} from "./keyValueStore.ts";

/** The number is that of the format. Each feature has a hash of JSON texts. */
const PREFIX = "catalog-gateway:1:state:";
/** The field that has another text after each change: the gateway that made it, and the number of its write. */
const VERSION = "#";

/** Milliseconds between two reads of the changes of others: messages may be lost. */
const INTERVAL = 5000;
/** Milliseconds from a message to the read. The read covers the messages that come meanwhile. */
const DELAY = 100;
/** Milliseconds for which a feature waits for Redis at the start if it can do without. */
const SHORT_PATIENCE = 1000;
/** The beginning of Redis's error for a wrong user, password or database. Other errors, such as `LOADING`, may pass. */
const WRONG_SETTING = /^(NOAUTH|NOPERM|WRONGPASS|ERR DB)\b/;
/**
 * Milliseconds for which a claim holds, and the share of them that counts: work under way ends before another gateway
 * begins.
 */
const CLAIM = 10_000;
const CLAIM_COUNTS = 0.8;

/** KEYS: a feature's hash, unless a script says otherwise. */
const scripts = {
  /** ARGV: the known `#`. -> nothing if it is still so, else fields and texts alternating */
  read: `
    if (redis.call('HGET', KEYS[1], '#') or '') == ARGV[1] then return false end
    return redis.call('HGETALL', KEYS[1])`,

  /**
   * ARGV: the known `#`, key, new text or '', new `#`, channel, message. -> nothing if it is stored, else fields and
   * texts alternating
   */
  write: `
    if (redis.call('HGET', KEYS[1], '#') or '') ~= ARGV[1] then return redis.call('HGETALL', KEYS[1]) end
    if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[2])
    else redis.call('HSET', KEYS[1], ARGV[2], ARGV[3]) end
    redis.call('HSET', KEYS[1], '#', ARGV[4])
    redis.call('PUBLISH', ARGV[5], ARGV[6])
    return false`,

  /** A write that changes nothing: it fails if Redis refuses writes. */
  touch: "return redis.call('PERSIST', KEYS[1])",

  /** KEYS: a claim. ARGV: gateway, milliseconds. -> 1 if this gateway has it now */
  claim: `
    local owner = redis.call('GET', KEYS[1])
    if owner and owner ~= ARGV[1] then
      -- The clock of Redis was set back, or another program has written it: the claim would hold for long, or for ever.
      local left = redis.call('PTTL', KEYS[1])
      if left < 0 or left > tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
      return 0
    end
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return 1`,
};

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
  const self = randomUUID();
  /** The channel of changes. A message is the id of the gateway that made the change. */
  const channel = `${channelPrefix(url)}state:changes`;
  /** The functions that read the changes of each store. */
  const reads: (() => Promise<void>)[] = [];
  const health = openHealth(onEvent);
  const inTurn = openSerialQueue();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const redis = connectRedis({
    url,
    channels: [channel],
    onMessage(from) {
      if (from !== self) lookSoon();
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
    for (const read of reads) await read();
    await run(scripts.touch, [PREFIX], []);
  };
  const lookSoon = (): void => {
    if (isClosed) return;
    timer ??= setTimeout(() => void inTurn(look).then(() => report(), report), DELAY).unref();
  };
  const looking = setInterval(lookSoon, INTERVAL).unref();

  /** The result of `task` once Redis answers; the last error if it does not answer in time. */
  const firstOf = async (task: () => Promise<unknown>, time: number): Promise<unknown> => {
    const until = performance.now() + time;
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

  return {
    kind: "redis",
    async open<T>(settings: StoreSettings<T>) {
      const { feature, needsRedis } = settings;
      const key = PREFIX + feature;
      /** The `#` of the hash, as it was read or written last; "" if it has no `#`. */
      let version = "";
      /** The number of writes sent from here, and the number of the last confirmed write. */
      let [sent, confirmed] = [0, 0];
      const write: WriteText = async (field, text = "") => {
        if (isClosed) throw new Error("the store is closed");
        const number = ++sent;
        const next = `${self}:${number}`;
        const writing = run(scripts.write, [key], [version, field, text, next, channel, self]);
        writing.catch(report);
        if (await take(await writing)) return false;
        [version, confirmed] = [next, number];
        return true;
      };
      const store = storeIn<T>(write, settings, onEvent);
      /** Reads the fields that a script returns, or undoes a refused write; false if it returns no fields. */
      const take = async (reply: unknown, isStart = false): Promise<boolean> => {
        if (!Array.isArray(reply)) return false;
        const fields = new Map<string, string>();
        for (let i = 0; i < reply.length; i += 2) fields.set(String(reply[i]), String(reply[i + 1]));
        const before = version;
        version = fields.get(VERSION) ?? "";
        fields.delete(VERSION);
        const [gateway, number] = version.split(":");
        // The last change is from here, and was refused to its caller.
        if (gateway === self && Number(number) > confirmed) {
          await store.rollBack(fields).catch((error: Error) => {
            // The next read tries again.
            version = before;
            throw error;
          });
          return true;
        }
        if (before !== "" && version === "") onEvent("store_emptied", { feature });
        store.take(fields, isStart);
        return true;
      };
      const read = (): Promise<unknown> => run(scripts.read, [key], [version]);
      const refuse = (why: string): Error => new Error(`REDIS_URL: ${new URL(url).host} cannot be used: ${why}`);
      const first = await firstOf(read, needsRedis ? patience : SHORT_PATIENCE);
      if (first instanceof Error && needsRedis)
        throw WRONG_SETTING.test(first.message) ? refuse(first.message) : temporary(refuse(first.message));
      try {
        await take(first, true);
      } catch (error) {
        throw refuse(`the hash ${key} has a field that is not what was written here: ${(error as Error).message}`);
      }
      reads.push(() => store.inTurn(async () => void (await take(await read()))));
      return store;
    },
    claim(work) {
      let until = -Infinity;
      return async () => {
        const now = performance.now();
        // More than half of the claim's time is left.
        if (until - now > (CLAIM * CLAIM_COUNTS) / 2) return !isClosed;
        const reply = await run(scripts.claim, [`${PREFIX}claim:${work}`], [self, String(CLAIM)]).catch(
          () => undefined,
        );
        if (reply !== undefined) until = Number(reply) === 1 ? now + CLAIM * CLAIM_COUNTS : -Infinity;
        return !isClosed && performance.now() < until;
      };
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
