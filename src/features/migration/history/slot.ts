/** How long a past is kept, in slots of equal length. Milliseconds. */
export const historyRanges = {
  "30m": { title: "30 minutes", step: 30_000, slots: 60 },
  "24h": { title: "24 hours", step: 15 * 60_000, slots: 96 },
  "14d": { title: "14 days", step: 4 * 3_600_000, slots: 84 },
} as const;

/** The name of one of them. */
export type HistoryRange = keyof typeof historyRanges;

/** Their names, the shortest first. */
export const historyRangeNames = Object.keys(historyRanges) as HistoryRange[];

/** Upper bounds of the classes of answer times, in milliseconds; one more class has no bound. */
const bounds = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 5000, 10_000,
] as const;
const CLASSES = bounds.length + 1;

/** The places of the counts in the list of one endpoint; each side's classes of answer times follow. */
const at = {
  requests: 0,
  hits: 1,
  judged: 2,
  good: 3,
  legacy: { asked: 4, failed: 5 },
  modern: { asked: 6, failed: 7 },
};
const times = { legacy: 8, modern: 8 + CLASSES };
const COUNTS = 8 + 2 * CLASSES;

/** What was counted of each endpoint in one slot. `at`: its begin, in milliseconds since the epoch. Zeros at the end of a list are left out. */
export type HistorySlot = { at: number; endpoints: Record<string, number[]> };

type HistorySide = { asked: number; failed: number; p50: number | undefined; p95: number | undefined };

/** What happened in one slot. `judged`, `good`: comparisons without drift, and those without an unexplained difference. Times are milliseconds. */
export type HistoryPoint = {
  at: number;
  requests: number;
  hits: number;
  judged: number;
  good: number;
  legacy: HistorySide;
  modern: HistorySide;
};

/** Counts what happens to one endpoint. */
export type EndpointHistory = {
  answered(isHit: boolean, count?: number): void;
  asked(side: "legacy" | "modern", ms: number, failed: boolean): void;
  compared(isGood: boolean): void;
};

/** Counts in this list. */
export const countInto = (counts: Float64Array): EndpointHistory => {
  const add = (place: number, count = 1): void => void (counts[place] = (counts[place] ?? 0) + count);
  return {
    answered(isHit, count) {
      add(at.requests, count);
      if (isHit) add(at.hits, count);
    },
    asked(side, ms, failed) {
      add(at[side].asked);
      if (failed) add(at[side].failed);
      else add(times[side] + classOf(ms));
    },
    compared(isGood) {
      add(at.judged);
      if (isGood) add(at.good);
    },
  };
};

const classOf = (ms: number): number => {
  const found = bounds.findIndex((bound) => ms <= bound);
  return found === -1 ? CLASSES - 1 : found;
};

/** A list of zeros. */
export const zeroHistory = (): Float64Array => new Float64Array(COUNTS);

/** The sums of two lists, without zeros at the end. */
export const sumCounts = (one: ArrayLike<number>, other: ArrayLike<number>): number[] => {
  const sums = Array.from({ length: Math.max(one.length, other.length) }, (_, i) => (one[i] ?? 0) + (other[i] ?? 0));
  return sums.slice(0, sums.findLastIndex((sum) => sum > 0) + 1);
};

/** Both slots as one. */
export const sumSlots = (one: HistorySlot, other: HistorySlot): HistorySlot => {
  const endpoints = { ...one.endpoints };
  for (const [name, counts] of Object.entries(other.endpoints))
    endpoints[name] = sumCounts(endpoints[name] ?? [], counts);
  return { at: one.at, endpoints };
};

/** The requests of an endpoint. */
export const requestsIn = (slot: HistorySlot | undefined, endpoint: string): number =>
  slot?.endpoints[endpoint]?.[at.requests] ?? 0;

/** What one endpoint's counts say, or those of all endpoints together. */
export const pointOf = (from: number, slot: HistorySlot | undefined, endpoint: string | undefined): HistoryPoint => {
  const lists = endpoint === undefined ? Object.values(slot?.endpoints ?? {}) : [slot?.endpoints[endpoint] ?? []];
  const counts = lists.reduce<number[]>((sum, one) => sumCounts(sum, one), []);
  const count = (place: number): number => counts[place] ?? 0;
  const side = (name: "legacy" | "modern"): HistorySide => {
    const classes = Array.from({ length: CLASSES }, (_, i) => count(times[name] + i));
    const { asked, failed } = at[name];
    return {
      asked: count(asked),
      failed: count(failed),
      p50: quantileIn(classes, 0.5),
      p95: quantileIn(classes, 0.95),
    };
  };
  return {
    at: from,
    requests: count(at.requests),
    hits: count(at.hits),
    judged: count(at.judged),
    good: count(at.good),
    legacy: side("legacy"),
    modern: side("modern"),
  };
};

/** The quantile at a share (0-1), as if times were spread evenly within their class; `undefined` without any. */
const quantileIn = (classes: readonly number[], share: number): number | undefined => {
  const total = classes.reduce((sum, one) => sum + one, 0);
  if (total === 0) return undefined;
  let left = share * total;
  const found = classes.findIndex((count) => (left -= count) <= 0);
  const [low, high] = [bounds[found - 1] ?? 0, bounds[found] ?? bounds.at(-1) ?? 0];
  return high + ((high - low) * left) / (classes[found] ?? 1);
};
