import type { CheckReport } from "../../libraries/check/checkReport.ts";
import type { Core, OpenSecondTier, TierOptions } from "../../src/gateway/index.ts";
import { sharedCacheEvents } from "./events.ts";
import { redisTier } from "./redisTier.ts";
import type { DataSettings } from "../../libraries/stores/settings.ts";

const knownCalls = {
  get: ["hit", "miss", "late", "failed"],
  set: ["stored", "overtaken", "failed"],
  drop: ["done", "unacknowledged", "failed"],
};

/** The most milliseconds that a request waits for Redis: legacy itself often takes longer. */
const TIMEOUT_MS = 50;

/**
 * Milliseconds that a request waits for Redis, and that a gateway waits for the others after a gap; tests replace them.
 */
export type TierParts = { redisTimeout?: number; waitForOthers?: number };

/** The second tier of the cache, in Redis. */
const sharedTier = (
  settings: DataSettings,
  { observer, meter, dependencies, longest }: TierOptions,
  { redisTimeout: timeout = TIMEOUT_MS, waitForOthers }: TierParts = {},
): OpenSecondTier => {
  const calls = meter.counter("shared_tier_calls_total", "Requests to the shared tier.", ["call", "result"]);
  for (const [call, results] of Object.entries(knownCalls)) for (const result of results) calls(call, result);
  const report = dependencies.add("redis", {
    trouble: "Redis has been failing",
    effect: "what was cached is served only while legacy fails",
  });
  const reportLost = (why: string): void =>
    report(false, `other gateways may not see writes through this one, nor this one theirs: ${why}`);
  reportLost("not connected yet");
  let isUp = false;
  return redisTier({
    url: settings.REDIS_URL as string,
    timeout,
    waitForOthers,
    longest,
    onEvent(event, about) {
      observer.event(event, about);
      isUp = event === "shared_tier_up" || (isUp && event !== "shared_tier_lost");
      if (isUp) report(true);
      else if (typeof about["why"] === "string") reportLost(about["why"]);
    },
    count: (call, result) => void calls(call, result).value++,
  });
};

const openCheck =
  ({ cache }: Pick<Core, "cache">) =>
  async ({ row }: CheckReport): Promise<void> => {
    // Waits at most two seconds for the connection.
    for (let i = 0; i < 40 && cache.sharing() !== "in step"; i++) await new Promise((done) => setTimeout(done, 50));
    const isReached = cache.sharing() === "in step";
    row(
      isReached,
      "REDIS_URL",
      isReached ? "reached" : "cannot be reached: nothing is shared, and little kept",
      "start Redis, or correct REDIS_URL",
    );
  };

export const feature = { sharedTier, openCheck, events: sharedCacheEvents };
