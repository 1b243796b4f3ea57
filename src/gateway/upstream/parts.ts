import type { RequestLine, RequestUnderWay } from "./failure.ts";

/** The division of a backend into parts. */
export type PartSettings = {
  /** Names the part that a request goes to: an endpoint, or the kind of the request. */
  partOf: (request: RequestLine) => string;
  /** Called when a request was refused because its part hangs. */
  onRefused: (part: string) => void;
};

/** Milliseconds without a first byte after which a part counts as hanging. */
const SILENCE = 5000;
/** Milliseconds between two checks of the waiting requests. */
const LOOK_EVERY = 1000;

/**
 * Finds a part of a backend that hangs, so that it holds at most half of the connections, and requests to other parts
 * are answered. A request has no additional cost until other requests have waited for a second.
 */
export const openParts = (connections: number, { partOf, onRefused }: PartSettings) => {
  const half = Math.max(1, Math.floor(connections / 2));
  /** The time of the last first byte from each part, as far as it was noted. */
  const lastBytes = new Map<string, number>();
  /** True if a request has waited for a second: each first byte is then noted. */
  let isNoting = false;
  let lookAt = 0;
  /** The part that hangs and holds half of the connections. */
  let full: string | undefined;

  return {
    half,
    /** Notes that an answer has begun. */
    begun({ request, startedAt }: RequestUnderWay): void {
      const now = performance.now();
      if (!isNoting && now - startedAt < LOOK_EVERY) return;
      const part = partOf(request);
      lastBytes.set(part, now);
      if (part === full) full = undefined;
    },
    /** Checks the waiting requests, once a second. Returns those that have to give back their connections. */
    look<R extends RequestUnderWay>(waitingNow: () => R[]): R[] {
      const now = performance.now();
      if (now < lookAt) return [];
      lookAt = now + LOOK_EVERY;
      const waiting = waitingNow();
      isNoting = waiting.some(({ startedAt }) => now - startedAt >= LOOK_EVERY);
      if (!isNoting) lastBytes.clear();
      full = undefined;
      for (const [part, requests] of isNoting ? Map.groupBy(waiting, ({ request }) => partOf(request)) : []) {
        const sorted = requests.toSorted((a, b) => a.startedAt - b.startedAt);
        const silentSince = Math.max(sorted[0]?.startedAt ?? now, lastBytes.get(part) ?? 0);
        if (sorted.length < half || now - silentSince < SILENCE) continue;
        full = part;
        return sorted.slice(half);
      }
      return [];
    },
    /** True if a request has to be refused. */
    isFull(request: RequestLine): boolean {
      if (full === undefined || partOf(request) !== full) return false;
      onRefused(full);
      return true;
    },
  };
};
