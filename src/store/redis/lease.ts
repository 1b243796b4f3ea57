import { randomUUID } from "node:crypto";
import { type RunScript, script } from "./script.ts";

/** KEYS of both: the lease. */
const leaseScripts = {
  /** ARGV: gateway, milliseconds. -> 1 if it is this gateway's now */
  hold: script(`
    local owner = redis.call('GET', KEYS[1])
    if owner and owner ~= ARGV[1] then return 0 end
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return 1`),

  /** ARGV: gateway, channel */
  release: script(`
    if redis.call('GET', KEYS[1]) ~= ARGV[1] then return end
    redis.call('DEL', KEYS[1])
    redis.call('PUBLISH', ARGV[2], 'free')`),
};

/** The share of its time that does not count: a step that is under way ends before another gateway begins. */
const MARGIN = 0.2;

/** A lease that at most one gateway holds at any time, for `ms` milliseconds from each renewal. */
export const openLease = (run: RunScript, { lease, changes }: { lease: string; changes: string }, ms: number) => {
  const self = randomUUID();
  let until = -Infinity;
  return {
    isHeld: () => performance.now() < until,
    /** Takes a free lease, or prolongs the one that is held. */
    async renew(): Promise<void> {
      const sentAt = performance.now();
      const isOurs = Number(await run(leaseScripts.hold, [lease], [self, String(ms)])) === 1;
      until = isOurs ? sentAt + ms * (1 - MARGIN) : -Infinity;
    },
    /** Gives it up, and tells the others. */
    async release(): Promise<void> {
      until = -Infinity;
      await run(leaseScripts.release, [lease], [self, changes]);
    },
  };
};
