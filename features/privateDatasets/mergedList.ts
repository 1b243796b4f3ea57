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
import {
  type Answer,
  answerOf,
  type Endpoint,
  type Outcome,
  type RowById,
  type RowFilters,
  type RowTest,
  transform,
} from "../../src/catalogue/index.ts";
import { type AdminStatuses, askAs, LIST_ENDPOINT } from "./askLegacy.ts";
import type { ScanResults, PrivateRow } from "./scanResults.ts";
import { rowMatcher, uploaderIn } from "./matching.ts";
import type { Scanner } from "./scan.ts";
import { idsInText, type ListParts, rowsById, type wholeLists } from "./wholeLists.ts";

type Input = Record<string, unknown>;
type KeyedContext = Context & { key: string };

/** The parts of merged lists. */
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
const [open, comma, close] = [Buffer.from("["), Buffer.from(","), Buffer.from("]")];

/** True if an input asks for all datasets. */
const hasNoFilter = (input: Input): boolean =>
  input["status"] === "all" &&
  Object.entries(input).every(([name, value]) => value === undefined || ["status", "limit", "offset"].includes(name));

/**
 * Adds to administrators' lists the private datasets that legacy's list lacks. All other requests go to the next layer.
 */
export const privateRowsLayer = (parts: MergedListParts): Layer => {
  const { core, scanResults, scanner, adminStatuses, wholeList, filters, listedRow } = parts;
  const incomplete = core.meter.counter("private_incomplete_total", "Answers with private=incomplete.")();

  /** Marks a list as incomplete. Only 200 and 404 answer with a list, the latter with an empty one. */
  const marked = (served: Served, isIncomplete: boolean, isBypass = false): Served => {
    const { status } = served.answer;
    if (!isIncomplete || (status !== 200 && status !== 404)) return served;
    // An incomplete list is not compared.
    if (isBypass) return { ...uncached(answerOf(lacksRows)), isIncomplete };
    incomplete.value++;
    return { ...served, isIncomplete };
  };

  /** Legacy lists a private dataset to its owner only. The filter names the owner; the key does not. */
  const learnUploaders = (input: Input, listed: () => Iterable<number>): void => {
    const uploader = uploaderIn(input);
    if (uploader === undefined || scanResults.rows().every((row) => row.uploader !== undefined)) return;
    for (const id of listed()) {
      const row = scanResults.get(id);
      // If it cannot be stored, the next such list shows it again.
      if (row !== undefined) void scanResults.put({ ...row, uploader }).catch(() => undefined);
    }
  };

  /** True if legacy lacks a dataset that the last scan had in the public list. It may have turned private since. */
  const mayHaveTurnedPrivate = async (
    input: Input,
    listed: ReadonlyMap<number, unknown>,
    context: KeyedContext,
  ): Promise<boolean> => {
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
  };

  /**
   * Adds the matching private rows to legacy's. True if a row may be missing: it is being read, it may match, or
   * legacy does not show it.
   */
  const addRows = (listed: Map<number, Buffer>, rows: readonly PrivateRow[], matches: RowTest): boolean => {
    const pending = new Set(scanner.pending());
    let isRowLacking = false;
    for (const row of rows) {
      const isMatch = !pending.has(row.id) && matches(row);
      const line = isMatch ? listedRow(row) : undefined;
      if (line !== undefined) listed.set(row.id, listed.get(row.id) ?? line);
      else if (isMatch !== false) isRowLacking = true;
    }
    return isRowLacking;
  };

  /**
   * Answers a page of legacy's whole list and the private datasets that match; `undefined`: legacy
   * cannot give the whole list.
   */
  const answerMerged = async (context: KeyedContext, until: number): Promise<Served | undefined> => {
    const { endpoint, input, bypass = false, wanted } = context;
    const matches = rowMatcher(filters, input);
    /** True if a dataset that may match is still to be read. */
    const isPending = () =>
      scanner.pending().some((id) => matches({ id, uploader: scanResults.get(id)?.uploader }) !== false);
    const waitUntilRead = async (): Promise<void> => {
      if (isPending()) await withTimeout(scanner.whenNonePending(), Math.max(1, until - performance.now()));
    };
    // It waits before the rows are taken, and again after the list was: a write may have named a dataset meanwhile.
    await waitUntilRead();
    const rows = scanResults.rows();
    const answered = await wholeList(input, wanted, context, bypass);
    const { status, body } = answered.answer;
    if (status >= 500 && !wanted.onlyIfCached) return undefined;
    if (status !== 200) return answered;
    const listed = rowsById(bytesOf(body));
    await waitUntilRead();
    const isUnsure = isPending() || !scanner.isCurrent() || (await mayHaveTurnedPrivate(input, listed, context));
    // A dataset that turned private or public meanwhile may be in neither.
    const isOvertaken = scanResults.rows() !== rows;
    learnUploaders(input, () => listed.keys());
    const isRowLacking = addRows(listed, rows, matches);
    const isIncomplete = isUnsure || isOvertaken || isRowLacking;
    const content = pageOf(listed, input) ?? answerOf(endpoint.notFound ?? noResults);
    if (!answered.entry) return { ...answered, answer: content, isIncomplete };
    // The page is as old as the list that it is cut from.
    const entry = entryOf(content, answered.entry);
    return { ...answered, answer: entry, entry, isIncomplete };
  };

  const answerList = async (next: Handler, context: KeyedContext): Promise<Served> => {
    const { input, bypass } = context;
    const wait = Math.min(MAX_WAIT, Math.max(1, MAX_SHARE * (context.deadline - performance.now())));
    const until = performance.now() + wait;
    const owner = idOfKey(context.key);
    const status = await adminStatuses.of({ owner, ask: askAs(core, context) }, wait);
    if (status === "refused") return uncached(answerOf(unauthenticated));
    const merged = status === "administrator" ? await answerMerged(context, until) : undefined;
    if (merged) return marked(merged, merged.isIncomplete === true, bypass);
    const served = await next(context);
    learnUploaders(input, () => idsInText(bytesOf(served.answer.body).toString("latin1")));
    return status === "other" ? served : marked(served, true, bypass);
  };

  return (next) => (context) => {
    const { key, endpoint, legacy } = context;
    const isMerged = key !== undefined && endpoint.name === LIST_ENDPOINT && !("unsent" in legacy);
    return isMerged ? answerList(next, { ...context, key }) : next(context);
  };
};

/** The page of rows, in rising order of their ids; `undefined` if it has no rows. */
const pageOf = (listed: ReadonlyMap<number, Buffer>, { offset, limit }: Input): Answer | undefined => {
  const from = Number(offset);
  const page = [...listed].toSorted(([a], [b]) => a - b).slice(from, from + Number(limit));
  if (page.length === 0) return undefined;
  return { status: 200, body: Buffer.concat([open, ...page.flatMap(([, row], i) => (i ? [comma, row] : row)), close]) };
};

/**
 * Makes the bytes of a row in a list, once for each row; `undefined` if legacy does not show it. `onUnfit` is called
 * with the places of a row that does not fit.
 */
export const listedRows = (
  output: Endpoint["output"],
  rowById: RowById,
  onUnfit: (id: number, places: string[]) => void,
): ((row: PrivateRow) => Buffer | undefined) => {
  const known = new WeakMap<PrivateRow, { bytes: Buffer | undefined }>();
  const write = ({ id, shown }: PrivateRow): Buffer | undefined => {
    if (shown === undefined) return undefined;
    const transformed = transform(output, rowById.document([shown]));
    if (transformed.ok) return Buffer.from(JSON.stringify((transformed.ours as unknown[])[0]));
    onUnfit(id, transformed.mismatch);
    return undefined;
  };
  return (row) => {
    const listed = known.get(row) ?? { bytes: write(row) };
    known.set(row, listed);
    return listed.bytes;
  };
};
