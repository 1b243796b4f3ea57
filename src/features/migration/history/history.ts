import { z } from "zod";
import type { KeyedStore } from "../../../store/keyedStore.ts";
import { memoryStore } from "../../../store/localStore.ts";
import { openSums, type SumsStoreSettings, sumsStoreSettings } from "../../../store/sums.ts";
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
  slotSchema,
  sumCounts,
  sumSlots,
  zeroHistory,
} from "./slot.ts";

/** What happened in the last 30 minutes, 24 hours and 14 days, to every endpoint. */
export type History = {
  /** Counts for one endpoint. */
  of(endpoint: string): EndpointHistory;
  /** The points of a range, the oldest first: of one endpoint, or of all together. */
  points(range: HistoryRange, endpoint?: string): HistoryPoint[];
  /** Gives the requests of one endpoint in each half-minute of the last 30 minutes, the oldest first. */
  requests(): (endpoint: string) => number[];
  /** When gateways have started, in milliseconds since the epoch. */
  starts(): readonly number[];
  /** Stores what was counted since the last time. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** Slots by range and place, such as `24h/17`: each is stored in the place of an old one. And the latest starts. */
type HistoryRecord = HistorySlot | { starts: number[] };

const STARTS = "starts";
const MAX_STARTS = 100;
const FLUSH_MS = 30_000;

const schema = (key: string): z.ZodType<HistoryRecord> =>
  key === STARTS ? z.strictObject({ starts: z.array(z.int()).max(MAX_STARTS) }) : slotSchema;

const slotKey = (range: HistoryRange, from: number): string => {
  const { step, slots } = historyRanges[range];
  return `${range}/${(from / step) % slots}`;
};

/** A history in memory: it ends with the process. */
export const memoryHistory = (endpoints: readonly string[], now?: () => number): History => {
  const store = memoryStore<HistoryRecord>({ schema, onEvent: () => undefined });
  return historyOver(store, { endpoints, onError: () => undefined, now });
};

type HistorySettings = {
  endpoints: readonly string[];
  /** Called if something could not be stored; it is stored later. */
  onError: (error: Error) => void;
  /** Milliseconds since the epoch. */
  now?: (() => number) | undefined;
};

/** Opens the history in a store. Gateways that share the store add to the same slots. */
export const openHistory = async (
  open: (settings: SumsStoreSettings<HistoryRecord>) => Promise<KeyedStore<HistoryRecord>>,
  settings: HistorySettings,
): Promise<History> => {
  const store = await open(sumsStoreSettings("history", schema, settings.onError));
  return historyOver(store, settings);
};

const historyOver = (
  store: KeyedStore<HistoryRecord>,
  { endpoints, onError, now = Date.now }: HistorySettings,
): History => {
  const pending = new Map(endpoints.map((name) => [name, zeroHistory()]));

  /** Takes what was counted into the present slots. */
  const collect = (): void => {
    const counted: HistorySlot["endpoints"] = {};
    for (const [name, counts] of pending) {
      if (!counts.some((count) => count > 0)) continue;
      counted[name] = sumCounts(counts, []);
      counts.fill(0);
    }
    if (Object.keys(counted).length === 0) return;
    for (const range of historyRangeNames) {
      const { step } = historyRanges[range];
      const from = Math.floor(now() / step) * step;
      sums.add(slotKey(range, from), { at: from, endpoints: counted });
    }
  };

  const sums = openSums(store, { sum: sumRecords, collect, onError, interval: FLUSH_MS });
  sums.add(STARTS, { starts: [now()] });

  /** The slots of a range, the oldest first, by their begin. */
  const slotsOf = (range: HistoryRange): [from: number, slot: HistorySlot | undefined][] => {
    collect();
    const { step, slots } = historyRanges[range];
    const last = Math.floor(now() / step) * step;
    return Array.from({ length: slots }, (_, i) => {
      const from = last - (slots - 1 - i) * step;
      const slot = sums.get(slotKey(range, from));
      return [from, slot && "at" in slot && slot.at === from ? slot : undefined];
    });
  };

  return {
    of: (endpoint) => countInto(pending.get(endpoint) ?? zeroHistory()),
    points: (range, endpoint) => slotsOf(range).map(([from, slot]) => pointOf(from, slot, endpoint)),
    requests() {
      const slots = slotsOf("30m");
      return (endpoint) => slots.map(([, slot]) => requestsIn(slot, endpoint));
    },
    starts() {
      const record = sums.get(STARTS);
      return record && "starts" in record ? record.starts : [];
    },
    flush: () => sums.flush(),
    close: () => sums.close(),
  };
};

/** Slots of one time together, else the later one; all starts, up to the bound. */
const sumRecords = (known: HistoryRecord, added: HistoryRecord): HistoryRecord => {
  if ("starts" in known || "starts" in added)
    return {
      starts: [known, added]
        .flatMap((one) => ("starts" in one ? one.starts : []))
        .toSorted((a, b) => a - b)
        .slice(-MAX_STARTS),
    };
  if (known.at === added.at) return sumSlots(known, added);
  return known.at < added.at ? added : known;
};
