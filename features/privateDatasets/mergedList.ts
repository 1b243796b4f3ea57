import {
  bytesOf,
  type Context,
  entryOf,
  type Handler,
  type Layer,
  type Served,
  unauthenticated,
  uncached,
} from "../../src/gateway/index.ts";
import { idOfKey, withTimeout } from "../../src/operation/index.ts";
import { answerOf, type Outcome, type RowFilters, type RowTest } from "../../src/catalogue/index.ts";
import { type AdminStatuses, askAs, LIST_ENDPOINT } from "./askLegacy.ts";
import type { ScanResults, PrivateRow } from "./scanResults.ts";
import { pageOf } from "./listedRows.ts";
import { rowMatcher } from "./matching.ts";
import type { Scanner } from "./scan.ts";
import { idsInText, type ListParts, rowsById, type wholeLists } from "./wholeLists.ts";

type Input = Record<string, unknown>;
type KeyedContext = Context & { key: string };

type MergedListParts = {
  core: ListParts;
  scanResults: ScanResults;
  scanner: Pick<Scanner, "isCurrent" | "pending" | "whenNonePending">;
  adminStatuses: AdminStatuses;
  wholeList: ReturnType<typeof wholeLists>;
  /** The requirements of the list's input on a row. */
  filters: RowFilters;
  /** A row as the endpoint lists it; `undefined` if that is unknown. */
  listedRow: (row: PrivateRow) => Buffer | undefined;
};

/**
 * The wait for the caller's status and for datasets that are being read: the most milliseconds, and the share
 * of the remaining time.
 */
const MAX_WAIT = 2000;
const MAX_SHARE = 1 / 4;

const noResults: Outcome = { kind: "notFound", message: "No results" };
const lacksRows: Outcome = { kind: "unavailable", message: "The list may lack private rows." };

/** True if an input asks for all datasets. */
const hasNoFilter = (input: Input): boolean =>
  input["status"] === "all" &&
  Object.entries(input).every(([name, value]) => value === undefined || ["status", "limit", "offset"].includes(name));

/**
 * Adds to administrators' lists the private datasets that legacy's list lacks. All other requests go to the next layer.
 */
export const privateRowsLayer = (parts: MergedListParts): Layer => {
  const lists = new MergedLists(parts);
  return (next) => (context) => {
    const { key, endpoint, legacy } = context;
    const isMerged = key !== undefined && endpoint.name === LIST_ENDPOINT && !("unsent" in legacy);
    return isMerged ? lists.answer(next, { ...context, key }) : next(context);
  };
};

/** Lists of datasets: legacy's for the caller, and for administrators the private datasets that it lacks. */
class MergedLists {
  readonly #parts: MergedListParts;
  readonly #incomplete: { value: number };

  constructor(parts: MergedListParts) {
    this.#parts = parts;
    this.#incomplete = parts.core.meter.counter("private_incomplete_total", "Answers with private=incomplete.")();
  }

  async answer(next: Handler, context: KeyedContext): Promise<Served> {
    const { core, adminStatuses } = this.#parts;
    const { input, bypass } = context;
    const wait = Math.min(MAX_WAIT, Math.max(1, MAX_SHARE * (context.deadline - performance.now())));
    const until = performance.now() + wait;
    const owner = idOfKey(context.key);
    const status = await adminStatuses.of({ owner, ask: askAs(core, context) }, wait);
    if (status === "refused") return uncached(answerOf(unauthenticated));
    const merged = status === "administrator" ? await this.#answerMerged(context, until) : undefined;
    if (merged) return this.#marked(merged, merged.isIncomplete === true, bypass);
    const served = await next(context);
    this.#learnUploaders(input, () => idsInText(bytesOf(served.answer.body).toString("latin1")));
    return status === "other" ? served : this.#marked(served, true, bypass);
  }

  /**
   * Answers a page of legacy's whole list and the private datasets that match; `undefined`: legacy
   * cannot give the whole list.
   */
  async #answerMerged(context: KeyedContext, until: number): Promise<Served | undefined> {
    const { scanResults, scanner, filters, wholeList } = this.#parts;
    const { endpoint, input, bypass = false, wanted } = context;
    const matches = rowMatcher(filters, input);
    // It waits before the rows are taken, and again after the list was: a write may have named a dataset meanwhile.
    await this.#waitUntilRead(matches, until);
    const rows = scanResults.rows();
    const answered = await wholeList(input, wanted, context, bypass);
    const { status, body } = answered.answer;
    if (status >= 500 && !wanted.onlyIfCached) return undefined;
    if (status !== 200) return answered;
    const listed = rowsById(bytesOf(body));
    await this.#waitUntilRead(matches, until);
    const isUnsure =
      this.#isPending(matches) || !scanner.isCurrent() || (await this.#mayHaveTurnedPrivate(listed, context));
    // A dataset that turned private or public meanwhile may be in neither.
    const isOvertaken = scanResults.rows() !== rows;
    this.#learnUploaders(input, () => listed.keys());
    const isRowLacking = this.#addRows(listed, rows, matches);
    const isIncomplete = isUnsure || isOvertaken || isRowLacking;
    const content = pageOf(listed, input) ?? answerOf(endpoint.notFound ?? noResults);
    if (!answered.entry) return { ...answered, answer: content, isIncomplete };
    // The page is as old as the list that it is cut from.
    const entry = entryOf(content, answered.entry);
    return { ...answered, answer: entry, entry, isIncomplete };
  }

  async #waitUntilRead(matches: RowTest, until: number): Promise<void> {
    if (!this.#isPending(matches)) return;
    await withTimeout(this.#parts.scanner.whenNonePending(), Math.max(1, until - performance.now()));
  }

  /** True if a dataset that may match is still to be read. */
  #isPending(matches: RowTest): boolean {
    const { scanner, scanResults } = this.#parts;
    return scanner.pending().some((id) => matches({ id, uploader: scanResults.get(id)?.uploader }) !== false);
  }

  /** True if legacy lacks a dataset that the last scan had in the public list. It may have turned private since. */
  async #mayHaveTurnedPrivate(listed: ReadonlyMap<number, unknown>, context: KeyedContext): Promise<boolean> {
    const { scanResults, filters, wholeList } = this.#parts;
    const { input } = context;
    const { listed: before, highest } = scanResults.progress();
    const matches = rowMatcher(filters, { data_id: input["data_id"] });
    const absent: number[] = [];
    for (let id = 1; id <= highest; id++)
      if (before.has(id) && !listed.has(id) && scanResults.get(id) === undefined && matches({ id, shown: {} }))
        absent.push(id);
    if (absent.length === 0 || hasNoFilter(input)) return absent.length > 0;
    const { status, body } = (await wholeList({ status: "all" }, {}, context)).answer;
    if (status !== 200) return true;
    const present = rowsById(bytesOf(body));
    return absent.some((id) => !present.has(id));
  }

  /** Legacy lists a private dataset to its owner only. The filter names the owner; the key does not. */
  #learnUploaders(input: Input, listed: () => Iterable<number>): void {
    const { scanResults } = this.#parts;
    const uploader = input["uploader"] as number | undefined;
    if (uploader === undefined || scanResults.rows().every((row) => row.uploader !== undefined)) return;
    for (const id of listed()) {
      const row = scanResults.get(id);
      // If it cannot be stored, the next such list shows it again.
      if (row !== undefined) void scanResults.put({ ...row, uploader }).catch(() => undefined);
    }
  }

  /**
   * Adds the matching private rows to legacy's. True if a row may be missing: it is being read, it may match, or
   * legacy does not show it.
   */
  #addRows(listed: Map<number, Buffer>, rows: readonly PrivateRow[], matches: RowTest): boolean {
    const { scanner, listedRow } = this.#parts;
    const pending = new Set(scanner.pending());
    let isRowLacking = false;
    for (const row of rows) {
      const isMatch = !pending.has(row.id) && matches(row);
      const line = isMatch ? listedRow(row) : undefined;
      if (line !== undefined) listed.set(row.id, listed.get(row.id) ?? line);
      else if (isMatch !== false) isRowLacking = true;
    }
    return isRowLacking;
  }

  /** Marks a list as incomplete. Only 200 and 404 answer with a list, the latter with an empty one. */
  #marked(served: Served, isIncomplete: boolean, isBypass = false): Served {
    const { status } = served.answer;
    if (!isIncomplete || (status !== 200 && status !== 404)) return served;
    // An incomplete list is not compared.
    if (isBypass) return { ...uncached(answerOf(lacksRows)), isIncomplete };
    this.#incomplete.value++;
    return { ...served, isIncomplete };
  }
}
