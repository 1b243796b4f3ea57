import {
  countInto,
  type EndpointHistory,
  type HistoryPoint,
  type HistoryRange,
  historyRangeNames,
  historyRanges,
  type HistorySlot,
  pointOf,
  requestsIn,
  sumCounts,
  sumSlots,
  zeroHistory,
} from "./slot.ts";

/** What happened in the last 30 minutes, 24 hours and 14 days, to every endpoint, since the start. */
export type History = {
  /** Counts for one endpoint. */
  of(endpoint: string): EndpointHistory;
  /** The points of a range, the oldest first: of one endpoint, or of all together. */
  points(range: HistoryRange, endpoint?: string): HistoryPoint[];
  /** Gives the requests of one endpoint in each half-minute of the last 30 minutes, the oldest first. */
  requests(): (endpoint: string) => number[];
  /** When this gateway has started, in milliseconds since the epoch. */
  starts(): readonly number[];
  close(): void;
};

/** Milliseconds between two looks at the counters: the shortest slot. */
const COLLECT_MS = historyRanges["30m"].step;

const slotKey = (range: HistoryRange, from: number): string => {
  const { step, slots } = historyRanges[range];
  return `${range}/${(from / step) % slots}`;
};

/** A history in memory: it ends with the process. `now` gives milliseconds since the epoch. */
export const openHistory = (endpoints: readonly string[], now: () => number = Date.now): History => {
  /** Slots by range and place, such as `24h/17`: each takes the place of an old one. */
  const kept = new Map<string, HistorySlot>();
  const start = now();
  const pending = new Map(endpoints.map((name) => [name, zeroHistory()]));

  /** Takes what was counted into the present slots. */
  const collect = (): void => {
    const counted: HistorySlot["endpoints"] = {};
    for (const [name, counts] of pending) {
      if (!counts.some((count) => count > 0)) continue;
      counted[name] = sumCounts(counts, []);
      counts.fill(0);
    }
    for (const range of historyRangeNames) {
      const { step } = historyRanges[range];
      const slot = { at: Math.floor(now() / step) * step, endpoints: counted };
      const key = slotKey(range, slot.at);
      const known = kept.get(key);
      kept.set(key, known?.at === slot.at ? sumSlots(known, slot) : slot);
    }
  };
  const timer = setInterval(collect, COLLECT_MS).unref();

  /** The slots of a range, the oldest first, by their begin. */
  const slotsOf = (range: HistoryRange): [from: number, slot: HistorySlot | undefined][] => {
    collect();
    const { step, slots } = historyRanges[range];
    const last = Math.floor(now() / step) * step;
    return Array.from({ length: slots }, (_, i) => {
      const from = last - (slots - 1 - i) * step;
      const slot = kept.get(slotKey(range, from));
      return [from, slot?.at === from ? slot : undefined];
    });
  };

  return {
    of: (endpoint) => countInto(pending.get(endpoint) ?? zeroHistory()),
    points: (range, endpoint) => slotsOf(range).map(([from, slot]) => pointOf(from, slot, endpoint)),
    requests() {
      const slots = slotsOf("30m");
      return (endpoint) => slots.map(([, slot]) => requestsIn(slot, endpoint));
    },
    starts: () => [start],
    close: () => clearInterval(timer),
  };
};
