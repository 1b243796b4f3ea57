import { setTimeout as sleep } from "node:timers/promises";
import type { PrivateIndex } from "./index.ts";
import { legacyAnswers, publicPage, readRow, type RowSource, type RowState } from "./readRow.ts";
import { type RecheckQueue, recordable } from "./recheckQueue.ts";
import { openRetryUntil, type RetrySettings, type RetryUntil } from "./retryUntil.ts";
import { type IdSet, MAX_ID, openIdSet, type Walk } from "./rows.ts";

/** Options of the scan, for tests. */
export type ScanOptions = {
  /** Milliseconds from the end of a scan to the next one, and until a failed request is repeated. */
  pause?: number;
  retry?: number;
  /** Ids beyond the highest known one that are read: the newest row of all may be private. */
  margin?: number;
  /** Ids without a row that each scan reads again. */
  slice?: number;
};

/** The default of `ScanOptions.margin`. */
export const MARGIN = 100;
/** The largest gap of deleted ids above the highest row. A row above a larger gap is ignored. */
export const FAR = 1000;
/** At ten requests a second this takes half a minute of each scan, and a day for 50,000 ids. */
const SLICE = 300;
const PAUSE = 10 * 60_000;
const SHORT_PAUSE = 60_000;
/** Rows on a page of the public list. They are whole rows, so that this bounds memory. */
const PAGE = 200;
/**
 * One row that cannot be parsed makes its page unparsable. So many such rows are found by halving pages. After that, so many pages are left
 * out, and their rows are read one by one. Beyond that the scan fails.
 */
const MAX_UNPARSABLE = 20;
const MAX_UNPARSABLE_PAGES = 200;

/** What the scan does, at which row or id, and why legacy does not answer now. */
export type ScanView = { doing: "waiting" | "listing" | "looking"; at: number; trouble?: string | undefined };

/** The parts of a scan. */
type ScanSettings = {
  index: PrivateIndex;
  source: RowSource;
  /** Takes over rows that may have changed; what it reads is newer than what the scan has begun to read. */
  queue: Pick<RecheckQueue, "add" | "watch">;
  record: (id: number, state: RowState) => void;
  mayScan: () => boolean;
  onEvent: (event: "private_walk_failed" | "private_walk_refused", about: Record<string, unknown>) => void;
  signal: AbortSignal;
  now: () => number;
  options?: ScanOptions;
};

/** Makes a scanner: the first scan reads all ids that are not listed publicly, later ones the new, known and formerly used ones. */
export const openScanner = (settings: ScanSettings) => {
  const { index, source, queue, record, mayScan, onEvent, signal, now, options = {} } = settings;
  const { pause = PAUSE, retry, margin = MARGIN, slice = SLICE } = options;
  let isSoon = false;
  let view: ScanView = { doing: "waiting", at: 0 };
  const retrySettings: RetrySettings = {
    goesOn: () => !signal.aborted && mayScan(),
    signal,
    firstWait: retry,
    onFailure(failure) {
      if (failure && view.trouble === undefined)
        onEvent(failure.kind === "refused" ? "private_walk_refused" : "private_walk_failed", { why: failure.why });
      view = { ...view, trouble: failure?.why };
    },
  };
  const retryUntil = openRetryUntil(retrySettings);

  /** Reads a row; whether there is or may be one. `undefined`: the scan is over. */
  const look = async (id: number): Promise<boolean | undefined> => {
    view = { ...view, doing: "looking", at: id };
    const isOutdated = queue.watch(id);
    const known = index.get(id);
    const isHidden = known !== undefined && known.shown === undefined;
    const state = await retryUntil(
      () => readRow(source, id),
      () => legacyAnswers(source),
      // A row that failed in the last scan does not hold up this one.
      isHidden ? 1 : undefined,
    );
    const isOlder = isOutdated();
    if (state !== undefined && !isOlder) record(id, recordable(state));
    if (!retrySettings.goesOn()) return undefined;
    return isOlder || state === undefined || !state.ok || state.found !== "none";
  };

  return {
    /** Scans until the signal aborts. */
    async run(): Promise<void> {
      while (!signal.aborted) {
        const { completedAt } = index.walk();
        const rest = isSoon ? Math.min(pause, SHORT_PAUSE) : pause;
        if (mayScan() && (completedAt === undefined || now() - completedAt >= rest)) {
          isSoon = false;
          const at = (offset: number) => void (view = { ...view, doing: "listing", at: offset });
          const listed = await listPublic(source, retryUntil, at);
          if (listed) await scanOnce({ index, queue, look, now, margin, slice }, listed);
        }
        view = { doing: "waiting", at: 0 };
        await sleep(Math.min(1000, pause), undefined, { signal, ref: false }).catch(() => undefined);
      }
    },
    /** Begins the next scan a minute after the last one at the latest. */
    soon: (): void => void (isSoon = true),
    view: (): ScanView => view,
  };
};

type PublicIds = { ids: IdSet; highest: number };

/** All publicly listed ids; `undefined`: the scan is over. `at` is called with each offset. */
const listPublic = async (
  source: RowSource,
  retryUntil: RetryUntil,
  at: (offset: number) => void,
): Promise<PublicIds | undefined> => {
  const ids = openIdSet();
  let highest = 0;
  let unparsable = 0;
  /** Reads a part of the list, and gives the number of its rows. */
  const read = async (offset: number, limit: number): Promise<number | undefined> => {
    at(offset);
    const page = await retryUntil(async () => {
      const answer = await publicPage(source, limit, offset);
      if (answer.ok || answer.kind !== "unparsable" || unparsable >= MAX_UNPARSABLE + MAX_UNPARSABLE_PAGES)
        return answer;
      return { ok: true as const, ids: undefined };
    });
    if (!page?.ok) return undefined;
    if (page.ids !== undefined) {
      for (const id of page.ids.filter((one) => one <= MAX_ID)) {
        ids.add(id);
        highest = Math.max(highest, id);
      }
      return page.ids.length;
    }
    if (limit === 1 || unparsable >= MAX_UNPARSABLE) {
      unparsable++;
      return limit;
    }
    const half = limit >> 1;
    const first = await read(offset, half);
    if (first === undefined || first < half) return first;
    const second = await read(offset + half, limit - half);
    return second && first + second;
  };
  for (let offset = 0; ; offset += PAGE) {
    const count = await read(offset, PAGE);
    if (count === undefined) return undefined;
    // If no page could be parsed, the length of the list is unknown.
    if (count < PAGE) return highest === 0 && unparsable > 0 ? undefined : { ids, highest };
  }
};

type OneScan = Pick<ScanSettings, "index" | "queue" | "now"> &
  Required<Pick<ScanOptions, "margin" | "slice">> & { look: (id: number) => Promise<boolean | undefined> };

/** Scans once, from where the last scan was cut off. */
const scanOnce = async ({ index, queue, look, now, margin, slice }: OneScan, listed: PublicIds): Promise<void> => {
  const before: Walk = index.walk();
  const isPublic = (id: number) => listed.ids.has(id);
  const wasThere = openIdSet(before.listed);
  const there = openIdSet(listed.ids.toText());
  for (const { id } of index.rows()) there.add(id);

  // A hidden row may not exist, so that its id does not count.
  const highestShown = () => index.rows().findLast(({ shown }) => shown !== undefined)?.id ?? 0;
  const highestSeen = () => Math.max(listed.highest, highestShown());
  // The highest of all may have been deleted, and ids are not reused. But one far beyond all others never existed.
  const highestOf = () => Math.max(highestSeen(), Math.min(before.highest, highestSeen() + FAR));
  for (const { id } of index.rows()) if (isPublic(id) || id > highestOf() + margin) queue.add(id);

  let { checkedUpTo, recheckedUpTo = 0 } = before;
  let left = before.completedAt === undefined ? 0 : slice;
  const saveProgress = () => {
    // A scan that continues this one reads the rows of now and of before again.
    const text = openIdSet(before.listed, there.toText()).toText();
    index.walked({ ...before, checkedUpTo, recheckedUpTo, highest: highestOf(), listed: text, progressAt: now() });
  };
  /** The first id that was read while it was beyond all others. */
  let beyond = Infinity;
  /** A row may have come since under an id that was beyond all others when it was read: the next scan reads it again. */
  const markPassed = (reached: number) => {
    if (reached < beyond) return;
    for (let id = beyond; id <= reached; id++) if (!isPublic(id)) there.add(id);
    beyond = reached + 1;
  };
  saveProgress();
  for (let id = 1; id <= highestOf() + margin; id++) {
    if (isPublic(id)) continue;
    const isNew = id > before.checkedUpTo;
    const isKnown = wasThere.has(id) || index.get(id) !== undefined;
    const isOld = !isNew && !isKnown && id > recheckedUpTo && left > 0;
    if (!isNew && !isKnown && !isOld) continue;
    if (id > highestOf()) beyond = Math.min(beyond, id);
    const isThere = await look(id);
    if (isThere === undefined) return;
    if (isThere) there.add(id);
    markPassed(isThere ? Math.max(id, highestOf()) : highestOf());
    if (isNew) checkedUpTo = Math.min(id, highestOf());
    if (isOld) {
      recheckedUpTo = id;
      left--;
    }
    saveProgress();
  }
  markPassed(highestOf());
  const [time, highest] = [now(), highestOf()];
  index.walked({
    checkedUpTo: highest,
    // Fewer than a slice were left: the next scan starts again.
    recheckedUpTo: left > 0 ? 0 : recheckedUpTo,
    highest,
    listed: there.toText(),
    completedAt: time,
    progressAt: time,
  });
};
