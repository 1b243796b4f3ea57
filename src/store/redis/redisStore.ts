import { withTimeout } from "../../concurrency/withTimeout.ts";
import type { KeyedStore, KeyedStoreSettings } from "../keyedStore.ts";
import { openLease } from "./lease.ts";
import { recordKeys, recordScripts } from "./recordScripts.ts";
import { openRedisRecords } from "./records.ts";
import { watchRedis } from "./watch.ts";

/** What a store on Redis is opened with; times are milliseconds. */
export type RedisStoreSettings<T> = KeyedStoreSettings<T> & {
  url: string;
  /** That an `update` waits at most, and a stop. */
  timeout?: number;
  /** That Redis may take to answer at the start. */
  patience?: number;
  /** Between two checks. */
  interval?: number;
  /** Without an answer until the connections are replaced. */
  renewAfter?: number;
  /** That the lease of a gateway which has gone silent lasts. */
  lease?: number;
};

/** Checks for which an empty Redis is left to gateways that may know what was in it. */
const DEFERENCE = 3;
/** Milliseconds between two attempts at the start. */
const ATTEMPT = 50;

/** A key holds another kind of value than ours. */
const isForeign = (error: Error): boolean => error.message.includes("WRONGTYPE");

/**
 * Opens values that all gateways on one Redis share. Without Redis each goes on with what it knows: an `update` rejects, and what is saved
 * is written later. Values that Redis loses are put back by any gateway that knows them.
 */
export const redisStore = async <T>(settings: RedisStoreSettings<T>): Promise<KeyedStore<T>> => {
  const { url, name, scope, isRebuildable, hasLease = false, onChange, onEvent } = settings;
  const { timeout = 2000, patience = 5000, lease: leaseTime = 10_000 } = settings;
  const prefix = ["catalog-gateway:1:state", name, ...(scope === undefined ? [] : [scope]), ""].join(":");
  const keys = recordKeys(prefix);
  let closing: Promise<void> | undefined;

  const watch = watchRedis({
    url,
    channel: keys.changes,
    async look(isBeat) {
      await check(isBeat).catch(replaceForeign);
      if (isBeat) await run(recordScripts.touch, keys.data, []);
    },
    onStatus: onEvent,
    interval: settings.interval ?? 1000,
    renewAfter: settings.renewAfter ?? 3000,
  });
  const { run } = watch;
  const records = openRedisRecords<T>({
    ...settings,
    run,
    prefix,
    onChange(changes) {
      if (closing === undefined) onChange(changes);
    },
  });
  const lease = openLease(run, keys, leaseTime);

  let emptyChecks = 0;
  const check = async (isBeat: boolean): Promise<void> => {
    await records.sync(isBeat);
    if (!isBeat) return;
    if (!records.isBegun()) emptyChecks++;
    if (hasLease && (records.isBegun() || emptyChecks > DEFERENCE)) await lease.renew();
  };
  const replaceForeign = async (error: Error): Promise<void> => {
    if (!isRebuildable || !isForeign(error)) throw error;
    onEvent("unreadable", { why: error.message });
    await run(recordScripts.clear, keys.data, []);
    await records.sync(true);
  };
  const writeLast = async (): Promise<void> => {
    await records.sync(true).catch(() => undefined);
    if (lease.isHeld()) await lease.release().catch(() => undefined);
  };

  if (!isRebuildable)
    await retryUntil(() => check(true), patience).catch(async (error: Error) => {
      await watch.close(() => Promise.resolve(), 0);
      throw new Error(`REDIS_URL: ${new URL(url).host} cannot be used: ${error.message}`, { cause: error });
    });
  watch.start();

  return {
    kind: "redis",
    entries: records.entries,
    isUnreadable: records.isUnreadable,
    async update(key, make) {
      if (closing !== undefined) throw new Error("the store is closed");
      let isOver = false;
      const done = await withTimeout(
        watch.inTurn(() => records.update(key, make, () => isOver)),
        timeout,
      );
      if (done !== "late") return done;
      isOver = true;
      throw new Error(`Redis did not answer within ${timeout} ms`);
    },
    save(changes, { isMinor = false } = {}) {
      if (closing !== undefined) return;
      records.save(changes, isMinor);
      if (!isMinor) watch.look();
    },
    holdsLease: () => closing === undefined && lease.isHeld(),
    close: () => (closing ??= watch.close(writeLast, timeout)),
  };
};

/** Repeats the task until it succeeds; rejects with the last reason after so many milliseconds. */
const retryUntil = async (task: () => Promise<unknown>, ms: number): Promise<void> => {
  const until = performance.now() + ms;
  let why: unknown = new Error("it does not answer");
  for (;;) {
    try {
      if ((await withTimeout(task(), Math.max(1, until - performance.now()))) !== "late") return;
    } catch (error) {
      why = error;
    }
    if (performance.now() >= until) throw why;
    await new Promise((resolve) => setTimeout(resolve, ATTEMPT));
  }
};
