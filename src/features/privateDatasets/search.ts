import { openRateLimiter } from "../../concurrency/rateLimiter.ts";
import type { RowApart } from "../../endpoint/endpoint.ts";
import type { LegacyClient } from "../../legacy/client.ts";
import type { Services } from "../../serve/services.ts";
import { LIST_ENDPOINT, PRIVATE_GROUP } from "./datasets.ts";
import { openIndex } from "./index.ts";
import { askAs, type AskLegacy, legacyAnswers, listedAmong, readRow, type RowSource } from "./readRow.ts";
import { openRecheckQueue } from "./recheckQueue.ts";
import { idsOf } from "./rows.ts";
import { MARGIN, openScanner, type ScanOptions } from "./scan.ts";
import { isCurrent, type PrivateRowsView, stateOf, viewOf } from "./state.ts";
import type { IndexStore, OpenIndexStore } from "./store/indexStore.ts";

/** The search for private rows: their index, and the scan and rechecks that keep it up to date. */
export type Search = ReturnType<typeof openSearch>;

/** The parts and settings of a search. */
type SearchSettings = {
  services: Services;
  apart: RowApart;
  openStore: OpenIndexStore;
  /** The administrator's key. */
  key: string;
  /** Requests a second of the scan. */
  rate: number;
  /** Milliseconds for one request. */
  timeout: number;
  isBusy: () => boolean;
  options: ScanOptions;
};

/** Requests that may be sent at once, after a pause, when rows may have changed. */
const BURST = 20;
/** Milliseconds that a timer may be late, and that are made up for. */
const TIMER_LATE = 10;

/** Makes a search, which sends no requests before it is started. */
export const openSearch = (settings: SearchSettings) => {
  const { services, rate, options } = settings;
  const event: Services["observer"]["event"] = (name, about) =>
    services.observer.event(name, { endpoint: LIST_ENDPOINT, ...about });
  const stopping = new AbortController();
  const { signal } = stopping;
  let store: IndexStore | undefined;
  let scanning: Promise<void> | undefined;
  const mayScan = () => store?.mayWalk() ?? false;
  const index = openIndex({
    onFound: (change) => store?.save(change),
    onRows: () => services.cache.invalidateLocally(PRIVATE_GROUP),
    onHidden: (id, why) => event("private_row_hidden", { id, why }),
  });
  const spent = { calls: 0, ms: 0 };
  const steady = openRateLimiter({ rate, slack: TIMER_LATE, isBusy: settings.isBusy });
  const scanSource = openSource(settings, steady, { signal, spent });
  const burst = openRateLimiter({ rate, slack: Math.max(TIMER_LATE, (BURST * 1000) / rate) });
  const recheckSource = openSource(settings, burst, { signal, spent });

  const queue = openRecheckQueue({
    read: (id) => readRow(recheckSource, id),
    legacyAnswers: () => legacyAnswers(recheckSource),
    record: index.record,
    onFull: () => scanner.soon(),
    signal,
    firstWait: options.retry,
  });
  const now = () => Date.now();
  const scanner = openScanner({
    index,
    source: scanSource,
    queue,
    record: index.record,
    mayScan,
    onEvent: event,
    signal,
    now,
    options,
  });

  return {
    index,
    queue,
    scanSoon: scanner.soon,
    /** Whether rows turned public within the last hour. */
    hasFormerlyPrivate: (): boolean => index.formerlyPrivate().length > 0,
    /** Rechecks those of them that `listed`, all rows of a caller's list, lacks and that legacy does not list to the caller at all. */
    async recheckUnlisted(listed: ReadonlyMap<number, unknown>, ask: AskLegacy): Promise<void> {
      const ids = index.formerlyPrivate().filter((id) => !listed.has(id));
      if (ids.length === 0) return;
      const answer = await listedAmong(ask, ids);
      for (const id of ids) if (!answer.ok || !answer.ids.includes(id)) queue.add(id);
    },
    /** Whether the index has all rows, and whether an id was read within half an hour. */
    isComplete: (): boolean => stateOf(index.walk(), scanner.view().trouble, now()) === "complete",
    isCurrent: (): boolean => isCurrent(index.walk(), now()),
    state: (): PrivateRowsView =>
      viewOf(index, scanner.view(), {
        calls: spent.calls,
        kept: store?.kind ?? "memory",
        walksHere: mayScan(),
        margin: options.margin ?? MARGIN,
        now: now(),
      }),
    /** Opens the store and begins to scan; rejects if the store cannot be used. */
    async start(): Promise<void> {
      store = await settings.openStore({
        onEvent: (name, about) => services.observer.event(name, about),
        onChange(change, isWhole) {
          if (!isWhole) queue.outdate(idsOf(change));
          index.take(change, isWhole);
        },
      });
      scanning = scanner.run();
    },
    async close(): Promise<void> {
      stopping.abort();
      await scanning;
      await store?.close();
    },
  };
};

/** Reads rows in the background: each request to legacy waits for its turn, and has a deadline of its own. */
const openSource = (
  { services, apart, key, timeout }: SearchSettings,
  takeTurn: (signal: AbortSignal) => Promise<void>,
  about: { signal: AbortSignal; spent: { calls: number; ms: number } },
): RowSource => {
  const client: LegacyClient = async (request, format, caller, readXml) => {
    await takeTurn(about.signal);
    return services.client(request, format, { ...caller, deadline: Date.now() + timeout }, readXml);
  };
  const caller = { ...about, headers: ["user-agent", "catalog-gateway"], deadline: Infinity };
  const slowly = { ...services, client };
  return { ask: askAs(slowly, { ...caller, key }), askWithoutKey: askAs(slowly, caller), apart };
};
