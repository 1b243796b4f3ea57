/** One request in `SAMPLED` is counted, of `MAX_CALLERS` callers a minute; further callers count only in the total. */
export const SAMPLED = 16;
const MAX_CALLERS = 1000;
/** The least number of requests that are a flood, and the least RATE_LIMIT that is proposed. */
const MIN_REQUESTS = 600;
const MIN_LIMIT = 5;

/**
 * A caller that sends more than half of all requests, and more than a tenth of those that legacy gets. `caller`: its
 * hash in `/clients`, or its address and user agent. `since`: ISO 8601. `rate`: requests a second. `share`: of all
 * requests (0 to 1). `limit`: the RATE_LIMIT that holds it back and spares the others.
 */
export type Flood = { caller: string; since: string; rate: number; share: number; limit: number };

type Tally = { requests: number; asked: number };

/** Looks for a flood at the end of each minute. `onFlood` is called when a flood begins. */
export const openFloodWatch = (onFlood: (flood: Flood) => void) => {
  const callers = new Map<string, Tally>();
  let all: Tally = { requests: 0, asked: 0 };
  let begun = new Date().toISOString();
  let flood: Flood | undefined;

  const floodOfMinute = (): Flood | undefined => {
    const [first, next] = [...callers].toSorted(([, a], [, b]) => b.requests - a.requests);
    const [caller, { requests, asked }] = first ?? ["", all];
    const isMuch = requests * SAMPLED >= MIN_REQUESTS && requests > all.requests / 2 && asked > all.asked / 10;
    if (!isMuch || first === undefined) return undefined;
    const rateOf = (count = 0): number => (count * SAMPLED) / 60;
    const rate = rateOf(requests);
    const limit = Math.floor(Math.min(rate / 2, Math.max(MIN_LIMIT, 2 * rateOf(next?.[1].requests))));
    const since = flood?.caller === caller ? flood.since : begun;
    return { caller, since, rate, share: requests / all.requests, limit };
  };
  const timer = setInterval(() => {
    const before = flood?.caller;
    flood = floodOfMinute();
    callers.clear();
    all = { requests: 0, asked: 0 };
    begun = new Date().toISOString();
    if (flood !== undefined && flood.caller !== before) onFlood(flood);
  }, 60_000).unref();

  return {
    /** Counts a request. `asked`: the requests to legacy that it took. */
    count(caller: string, asked: number): void {
      const known = callers.get(caller) ?? { requests: 0, asked: 0 };
      if (callers.size < MAX_CALLERS) callers.set(caller, known);
      for (const tally of [known, all]) {
        tally.requests++;
        tally.asked += asked;
      }
    },
    /** The flood of the last minute. */
    flood: (): Flood | undefined => flood,
    close: () => clearInterval(timer),
  };
};
