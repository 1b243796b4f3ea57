import { type CacheKey, type Fetched, mergedCacheKey } from "../../cache/cacheRequest.ts";
import type { Directives } from "../../cache/directives.ts";
import { freshOnly, type LifetimesOf } from "../../cache/lifetimes.ts";
import { bytesOf } from "../../cache/representation.ts";
import { type Answer, answerOf } from "../../endpoint/answer.ts";
import type { Outcome } from "../../endpoint/outcome.ts";
import type { Caller } from "../../legacy/client.ts";
import type { EndpointRequest, Layer, RequestCaller, Served } from "../../serve/backend.ts";
import { answerFrom, unauthenticated } from "../../serve/legacyBackend.ts";
import {
  fetchAnswer,
  fetchReadable,
  type LegacyResult,
  openRequestBudget,
  type RequestBudget,
} from "../../serve/legacyFetch.ts";
import type { PreparedEndpoint } from "../../serve/prepared.ts";
import type { Services } from "../../serve/services.ts";
import { uncached } from "../../serve/uncached.ts";
import { inTurn } from "../../upstream/semaphore.ts";
import type { PrivateRowsKnowledge } from "../../endpoint/privateRows.ts";
import type { AskLegacy } from "./look.ts";
import { fetchListed, type FetchRows, fetchWhole, MAX_ROWS, mergedPage } from "./merge.ts";
import type { MissingRows } from "./missingRows.ts";
import type { PrivateRows } from "./privateRows.ts";

/** A list is fetched anew while what belongs into it changes, so many times at most. */
const MAX_TRIES = 3;

/** Answers administrators' lists with the private rows that legacy's list lacks; all other requests go on. */
export const privateRowsLayer = (services: Services, privateRows: PrivateRows): Layer => {
  const { knowledge } = privateRows;
  return (next) => {
    const list = async (
      request: EndpointRequest,
      caller: RequestCaller & { key: string },
      tries = 1,
    ): Promise<Served> => {
      const { endpoint, input } = request;
      const ask = asCaller(services, endpoint, caller);
      const owner = services.keys.ownerOf(caller.key);
      const missing = await privateRows.missing(input, { owner, ask, deadline: caller.deadline });
      if (missing === "own") return next(request, caller);
      if (missing === "refused") return { answered: uncached(answerOf(unauthenticated)) };
      const served =
        typeof missing === "string"
          ? await next(request, caller)
          : await answerMerged({ services, privateRows, request, caller, missing });
      const isOutdated = privateRows.missing.isOutdated(input, missing);
      if (isOutdated && tries < MAX_TRIES) return list(request, caller, tries + 1);
      const { status } = "entry" in served.answered ? served.answered.entry : served.answered.representation;
      const mayLackRows =
        isOutdated || missing === "incomplete" || (typeof missing === "object" && missing.isIncomplete);
      // No other answer is a list, be it an empty one.
      const isIncomplete = mayLackRows && (status === 200 || status === 404);
      if (isIncomplete && !request.bypass) services.meter.incomplete();
      return { ...served, isIncomplete };
    };
    return (request, caller) => {
      const { key } = caller;
      if (key === undefined || request.endpoint.name !== knowledge.endpoint || "unsent" in request.legacy)
        return next(request, caller);
      return list(request, { ...caller, key });
    };
  };
};

const asCaller =
  (services: Services, endpoint: PreparedEndpoint, caller: Caller): AskLegacy =>
  (request, form) =>
    fetchReadable(services, endpoint, request, caller, form);

/** The group of the answers that private rows were added to. */
export const privateGroup = ({ kind }: PrivateRowsKnowledge): string => `private-${kind}`;

/** What belongs to a key is fresh for at most so many milliseconds. */
const MINUTE = 60_000;

/**
 * How long merged pages hold, and the ids that they are cut from: each half of the time, since a page may be cut from ids that have been
 * cached for a while.
 */
const halfAsLong = (lifetimesOf: LifetimesOf): LifetimesOf => {
  const fresh = freshOnly(lifetimesOf);
  return (status) => {
    const windows = fresh(status);
    return windows && { ...windows, fresh: Math.min(windows.fresh, MINUTE) / 2 };
  };
};

/** The question of an administrator's list, whose answers have the private rows in them as they are at this version. */
const mergedCacheKeyOf = (question: CacheKey, { version }: MissingRows): CacheKey => ({
  ...question,
  key: mergedCacheKey(question.key, version),
  lifetimesOf: halfAsLong(question.lifetimesOf),
});

/** One list that rows are added to. */
type Merging = {
  services: Services;
  privateRows: PrivateRows;
  endpoint: PreparedEndpoint;
  input: Record<string, unknown>;
  caller: Caller & { key: string };
  missing: MissingRows;
  wanted: Directives;
  /** For the whole list, its parts and its page together. */
  budget: RequestBudget;
};
/** Rows as they are written: parts of legacy's answer, which is not parsed here. */
type Rows = ReadonlyMap<number, Buffer>;

type MergedList = {
  services: Services;
  privateRows: PrivateRows;
  request: EndpointRequest;
  caller: RequestCaller & { key: string };
  missing: MissingRows;
};

/** The list with its private rows, cached for this caller and this state of the index. */
const answerMerged = async (list: MergedList): Promise<Served> => {
  const { services, privateRows, missing, caller } = list;
  const { endpoint, input, wanted, bypass } = list.request;
  const fetch = (by: Caller): Promise<Fetched> =>
    askMerged({
      services,
      privateRows,
      endpoint,
      input,
      caller: { ...by, key: caller.key },
      missing,
      wanted: bypass ? { noCache: true } : wanted,
      budget: openRequestBudget(),
    });
  const cacheKey = bypass ? undefined : endpoint.cacheKey?.(input);
  if (cacheKey === undefined) return { answered: uncached((await fetch(caller)).answer, "bypass") };
  const answered = await services.cache.answer(
    { cacheKey: mergedCacheKeyOf(cacheKey, missing), owner: services.keys.ownerOf(caller.key), wanted },
    (_as, isBackground) => fetch(isBackground ? caller.background() : caller),
    caller.authorize,
  );
  return { answered };
};

const askMerged = async (merging: Merging): Promise<Fetched> => {
  const { services, endpoint } = merging;
  const started = performance.now();
  const merged = await mergedRows(merging);
  const answer = "other" in merged ? merged.other : answerOfRows(merged.rows, endpoint.notFound);
  services.hooks.onLegacyAnswer({ endpoint: endpoint.name, ms: performance.now() - started, status: answer.status });
  return { answer, groups: groupsOf(merging) };
};

const answerOfRows = (rows: readonly Buffer[], absent: Outcome = noResults): Answer =>
  rows.length === 0
    ? answerOf(absent)
    : { status: 200, body: Buffer.concat([open, ...rows.flatMap((row, i) => (i === 0 ? row : [comma, row])), close]) };

const [open, comma, close] = [Buffer.from("["), Buffer.from(","), Buffer.from("]")];

const noResults: Outcome = { kind: "notFound", message: "No results" };

const groupsOf = ({ privateRows, endpoint, input }: Merging): string[] => [
  ...(endpoint.cache?.groups(input) ?? []),
  privateGroup(privateRows.knowledge),
];

/** A page of legacy's list and the rows that it lacks; `other`: the answer that there is instead. */
const mergedRows = async (merging: Merging): Promise<{ rows: Buffer[] } | { other: Answer }> => {
  const { missing, input } = merging;
  const { knowledge } = merging.privateRows;
  const whole = await listedIds(merging);
  if ("other" in whole) return whole;
  const page = mergedPage(whole.ids, missing.added, knowledge.pageOf(input));
  let { rows } = whole;
  if (rows === undefined) {
    const fetched = await fetchListed(page.listed, fetchRows(merging), knowledge.mostIds);
    // The list has changed, or the page is so large that it is read anew with all of it: if not with another caller's, then alone.
    if (fetched === undefined)
      return mergedRows({ ...merging, wanted: merging.wanted.noCache ? { noStore: true } : { noCache: true } });
    if ("other" in fetched) return { other: answerFrom(fetched.other) };
    ({ rows } = fetched);
  }
  const added = new Map(missing.added.map(({ id, row }) => [id, row]));
  const rowOf = (id: number): Buffer[] => {
    const row = rows.get(id);
    if (row !== undefined) return [row];
    const own = added.get(id);
    return own === undefined ? [] : [Buffer.from(JSON.stringify(own))];
  };
  return { rows: page.ids.flatMap(rowOf) };
};

/** The ids of all rows that legacy lists to a caller, in their order; and the rows, unless the ids were cached. */
const listedIds = async (merging: Merging): Promise<{ ids: number[]; rows?: Rows | undefined } | { other: Answer }> => {
  const { services, privateRows, endpoint, input, caller, missing, wanted } = merging;
  let rows: Rows | undefined;
  const fill = async (): Promise<Fetched> => {
    const whole = await wholeList(merging);
    if ("other" in whole) return { answer: answerFrom(whole.other), groups: [] };
    rows = whole.rows;
    privateRows.feed.listed(input, [...rows.keys()], true);
    await privateRows.recheckUnlisted(rows, asCaller(services, endpoint, caller));
    const ids = [...rows.keys()].toSorted((a, b) => a - b);
    return { answer: { status: 200, body: JSON.stringify(ids) }, groups: groupsOf(merging) };
  };
  const read = (answer: Answer) =>
    answer.status === 200 ? { ids: JSON.parse(answer.body.toString()) as number[], rows } : { other: answer };

  const question = endpoint.cacheKey?.(privateRows.knowledge.withPage(input, allRows));
  if (question === undefined) return read((await fill()).answer);
  const { onlyIfCached: _, maxStale: __, ...fresh } = wanted;
  const answered = await services.cache.answer(
    { cacheKey: mergedCacheKeyOf(question, missing), owner: services.keys.ownerOf(caller.key), wanted: fresh },
    fill,
    () => Promise.resolve(undefined),
  );
  const { status, body, headers } = "entry" in answered ? answered.entry : answered.representation;
  return read({ status, body: body.toString("utf8"), ...(headers ? { headers } : {}) });
};

const allRows = { offset: 0, limit: MAX_ROWS };

/** All rows that legacy lists to a caller. Such lists are large: only a few are asked for at a time, for all callers together. */
const wholeList = async (merging: Merging): Promise<{ rows: Rows } | { other: LegacyResult }> => {
  const { input, caller } = merging;
  const { knowledge, ids, wholeLists } = merging.privateRows;
  const matching = knowledge.matching(input);
  const fetched = await inTurn(wholeLists, caller.deadline - Date.now(), () =>
    fetchWhole({
      fetch: fetchRows(merging),
      isWorthParts: (other) =>
        "outcome" in other && (other.outcome.kind === "broken" || other.outcome.kind === "tooSlow"),
      ids: () => ids().filter((id) => matching({ id }) !== false),
      maxIds: knowledge.mostIds,
    }),
  );
  return fetched === "noTurn" ? { other: { outcome: tooManyLists } } : fetched;
};

const tooManyLists: Outcome = { kind: "unavailable", message: "Too many whole lists are being read." };

/** Asks for rows as the caller. The whole list gets half of the time that is left, so that its rows can still be asked for in parts. */
const fetchRows =
  ({
    services,
    privateRows: { knowledge },
    endpoint,
    input,
    caller,
    budget,
  }: Merging): FetchRows<Buffer, LegacyResult> =>
  async (part) => {
    const isWhole = "limit" in part;
    const asked = isWhole ? knowledge.withPage(input, allRows) : knowledge.withIds(input, part.ids);
    const request = endpoint.legacy(asked);
    if ("unsent" in request) return { other: { outcome: { kind: "broken", message: request.unsent } } };
    const deadline = isWhole ? (Date.now() + caller.deadline) / 2 : caller.deadline;
    const result = await fetchAnswer(services, endpoint, request, { ...caller, deadline }, asked, {
      as: "rows",
      budget,
    });
    if (!("written" in result)) return result.outcome.kind === "notFound" ? { rows: [] } : { other: result };
    const { body, rows = [] } = result.written;
    if (isWhole && rows.length >= part.limit) return { other: { outcome: tooManyRows } };
    const bytes = bytesOf(body);
    return { rows: rows.map(({ id, start, end }) => ({ id, row: bytes.subarray(start, end) })) };
  };

const tooManyRows: Outcome = { kind: "broken", message: "The legacy interface's list is too long." };
