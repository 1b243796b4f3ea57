import type { RunScript } from "./redis.ts";
import { PREFIX } from "./redisHash.ts";

/**
 * Milliseconds for which a claim holds, and the share of them that counts: work under way ends before another gateway
 * begins.
 */
const CLAIM = 10_000;
const CLAIM_COUNTS = 0.8;

/** KEYS: a claim. ARGV: gateway, milliseconds. -> 1 if this gateway has it now */
const script = `
  local owner = redis.call('GET', KEYS[1])
  if owner and owner ~= ARGV[1] then
    -- The clock of Redis was set back, or another program has written it: the claim would hold for long, or for ever.
    local left = redis.call('PTTL', KEYS[1])
    if left < 0 or left > tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
    return 0
  end
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1`;

/** Returns a function that is true if this gateway does this work now; see `Stores.claim`. */
export const redisClaim = (run: RunScript, gateway: string, work: string): (() => Promise<boolean>) => {
  let until = -Infinity;
  return async () => {
    const now = performance.now();
    // More than half of the claim's time is left.
    if (until - now > (CLAIM * CLAIM_COUNTS) / 2) return true;
    const reply = await run(script, [`${PREFIX}claim:${work}`], [gateway, String(CLAIM)]).catch(() => undefined);
    if (reply !== undefined) until = Number(reply) === 1 ? now + CLAIM * CLAIM_COUNTS : -Infinity;
    return performance.now() < until;
  };
};
