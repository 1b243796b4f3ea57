import { withTimeout } from "../../concurrency/withTimeout.ts";
import { connectRedis } from "../../store/redis/connection.ts";
import { script } from "../../store/redis/script.ts";
import type { BucketSize } from "./buckets.ts";

/** Token buckets in Redis, which all gateways share. */
export type SharedBuckets = {
  /** Takes one token; gives 0, or the milliseconds until there is one; `undefined`: Redis did not say in time. */
  take(caller: string): Promise<number | undefined>;
  close(): void;
};

type SharedBucketsSettings = BucketSize & {
  url: string;
  /** Milliseconds that a request waits for Redis. */
  timeout: number;
  /** Milliseconds for the first connection, and without Redis after a late or failed answer (default: a second). */
  rest?: number;
  onLost: (why: string) => void;
  onUp: () => void;
};

const PREFIX = "catalog-gateway:2:rate:";

/** The same step as in `openBuckets`, by the clock of Redis. ARGV: milliseconds for one token, and for a whole burst. */
const take = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + ARGV[1]
local wait = full - now - ARGV[2]
if wait > 0.001 then return math.ceil(wait) end
redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil(full - now))
return 0
`);

/** Connects in the background. */
export const openSharedBuckets = ({
  url,
  timeout,
  rate,
  burst,
  onLost,
  onUp,
  rest = 1000,
}: SharedBucketsSettings): SharedBuckets => {
  const interval = 1000 / rate;
  const args = [String(interval), String(burst * interval)];
  // Failures of the connection show in the calls.
  const redis = connectRedis({
    url,
    channels: [],
    onMessage: () => undefined,
    onListening: () => undefined,
    onError: () => undefined,
  });
  const opened = performance.now();
  let restUntil = 0;
  let isLost = false;
  const lost = (why: string): void => {
    const now = performance.now();
    if (now < opened + rest) return;
    restUntil = now + rest;
    if (!isLost) onLost(why);
    isLost = true;
  };
  return {
    async take(caller) {
      if (performance.now() < restUntil) return undefined;
      try {
        const wait = await withTimeout(redis.run(take, [PREFIX + caller], args), timeout);
        if (wait !== "late") {
          if (isLost) onUp();
          isLost = false;
          return Number(wait);
        }
        lost(`no answer within ${timeout} ms`);
      } catch (error) {
        lost((error as Error).message);
      }
      return undefined;
    },
    close: () => redis.close(),
  };
};
