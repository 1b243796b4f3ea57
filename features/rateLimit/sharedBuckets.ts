import { withTimeout } from "../../src/operation/index.ts";
import type { RunScript } from "../../libraries/stores/redis.ts";
import { BURST_MS } from "./buckets.ts";

const PREFIX = "catalog-gateway:2:rate:";
/** Milliseconds without Redis after the start, and after a late or failed answer. */
const COOLDOWN_MS = 1000;

/**
 * The same step as in `openBuckets`, by the clock of Redis. ARGV: milliseconds for one token, and for a whole burst.
 */
const take = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local known = tonumber(redis.call('GET', KEYS[1])) or now
-- More than a whole burst ahead: the clock of Redis was set back.
if known - now > ARGV[2] + 1 then known = now end
local full = math.max(known, now) + ARGV[1]
local wait = full - now - ARGV[2]
if wait > 0.001 then return math.ceil(wait) end
redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil(full - now))
return 0
`;

type SharedBucketsSettings = {
  run: RunScript;
  onLost: (why: string) => void;
  onUp: () => void;
  /** Milliseconds that a request waits for Redis. */
  timeout?: number;
};

/** Opens the same buckets in Redis, for all gateways together. Failures of the connection show in the calls. */
export const openSharedBuckets = ({ run, onLost, onUp, timeout = 50 }: SharedBucketsSettings) => {
  let cooldownUntil = performance.now() + COOLDOWN_MS;
  let isLost = false;
  return {
    /** Takes one token; gives 0, or milliseconds until the next token; `undefined`: Redis did not answer in time. */
    async take(caller: string, rate: number): Promise<number | undefined> {
      if (performance.now() < cooldownUntil) return undefined;
      try {
        const args = [String(1000 / rate), String(BURST_MS)];
        const wait = await withTimeout(run(take, [PREFIX + caller], args), timeout);
        if (wait === "late") throw new Error(`no answer within ${timeout} ms`);
        if (isLost) onUp();
        isLost = false;
        return Number(wait);
      } catch (error) {
        cooldownUntil = performance.now() + COOLDOWN_MS;
        if (!isLost) onLost((error as Error).message);
        isLost = true;
        return undefined;
      }
    },
  };
};
