import { type CacheKey, type Fetched, mergedCacheKey, type Directives } from "../../cache/cacheRequest.ts";
import { type Answered, bytesOf } from "../../cache/reply.ts";
import { freshOnly } from "../../cache/entry.ts";
import { type Answer, answerOf } from "../../endpoint/answer.ts";
import type { Outcome } from "../../endpoint/outcome.ts";
import type { Caller } from "../../legacy/client.ts";
import {
  type Backend,
  type EndpointRequest,
  type Layer,
  type RequestCaller,
  type Served,
  uncached,
} from "../../serve/backend.ts";
import { answerFrom, unauthenticated } from "../../serve/legacyBackend.ts";
import { fetchAnswer, type LegacyResult } from "../../serve/legacyFetch.ts";
import type { Services } from "../../serve/services.ts";
import { inTurn, openSemaphore, type Semaphore } from "../../upstream/semaphore.ts";
import { LIST_ENDPOINT, MAX_IDS_ASKED, PRIVATE_GROUP } from "./datasets.ts";
import { rowMatcher } from "./matching.ts";
import { fetchListed, type FetchRows, fetchWhole, MAX_ROWS, mergedPage } from "./merge.ts";
import type { MissingRows, MissingRowsFinder } from "./missingRows.ts";
import { askAs, type AskLegacy } from "./readRow.ts";

type Input = Record<string, unknown>;
type KeyedRequest = RequestCaller & { key: string };

/** The parts of merged lists. */
type MergedListParts = {
  services: Services;
  missingRows: MissingRowsFinder;
  /** All ids that legacy may list. */
  listableIds: () => number[];
  /** Called with all rows that legacy lists to a caller for an input. `ask` asks legacy with the caller's key. */
  onWholeList: (input: Input, rows: ReadonlyMap<number, unknown>, ask: AskLegacy) => Promise<void>;
  wholeLists: Semaphore;
};

/** How often a list is made at most, because the rows that it lacks have changed meanwhile. */
const MAX_TRIES = 3;
/** Bounds whole lists, which are large: two are read at a time, for all callers together, and 64 requests may wait. */
export const openWholeLists = (): Semaphore => openSemaphore({ places: 2, queue: 64 });
/** Milliseconds for which answers to a key are fresh at most. */
const MAX_FRESH = 60_000;

/** Adds to administrators' lists the private rows that legacy's list lacks. All other requests go to the next layer. */
export const privateRowsLayer = (parts: MergedListParts): Layer => {
  const { services, missingRows } = parts;
  const incomplete = services.meter.counter("private_incomplete_total", "Answers with private=incomplete.")();
  const answerList = async (
    next: Backend,
    request: EndpointRequest,
    caller: KeyedRequest,
    tries = 1,
  ): Promise<Served> => {
    const { input, bypass } = request;
    const who = { owner: services.keys.ownerOf(caller.key), ask: askAs(services, caller) };
    const missing = await missingRows.find(input, { ...who, deadline: caller.deadline });
    if (missing === "own") return next(request, caller);
    if (missing === "refused") return { answered: uncached(answerOf(unauthenticated)) };
    // An incomplete list is not compared, so it is not fetched for that.
    if (bypass && mayLackRows(missing)) return { answered: uncached(answerOf(lacksRows)), isIncomplete: true };
    const served =
      typeof missing === "string" ? await next(request, caller) : await answerMerged(parts, request, caller, missing);
    const isOutdated = missingRows.isOutdated(input, missing);
    if (isOutdated && tries < MAX_TRIES) return answerList(next, request, caller, tries + 1);
    const { status } = "entry" in served.answered ? served.answered.entry : served.answered.representation;
    // Only 200 and 404 answer with a list, the latter with an empty one.
    const isIncomplete = (isOutdated || mayLackRows(missing)) && (status === 200 || status === 404);
    if (isIncomplete && !bypass) incomplete.value++;
    return { ...served, isIncomplete };
  };
  return (next) => (request, caller) => {
    const { key } = caller;
    const isMerged = key !== undefined && request.endpoint.name === LIST_ENDPOINT && !("unsent" in request.legacy);
    return isMerged ? answerList(next, request, { ...caller, key }) : next(request, caller);
  };
};

const mayLackRows = (missing: Exclude<Awaited<ReturnType<MissingRowsFinder["find"]>>, "own" | "refused">): boolean =>
  typeof missing === "string" ? missing === "incomplete" : missing.isIncomplete;

const [open, comma, close] = [Buffer.from("["), Buffer.from(","), Buffer.from("]")];
const allRows = { offset: 0, limit: MAX_ROWS };
const noResults: Outcome = { kind: "notFound", message: "No results" };
const lacksRows: Outcome = { kind: "unavailable", message: "The list may lack private rows." };
const tooManyLists: Outcome = { kind: "unavailable", message: "Too many whole lists are being read." };
const tooManyRows: Outcome = { kind: "broken", message: "The legacy interface's list is too long." };

/**
 * The cache key of a list with the rows of this version of the index. A page may be cut from ids that are cached themselves: each of the
 * two is fresh for half of the time.
 */
const keyOf = (cacheKey: CacheKey, { version }: MissingRows): CacheKey => ({
  ...cacheKey,
  key: mergedCacheKey(cacheKey.key, version),
  lifetimesOf(status) {
    const lifetimes = freshOnly(cacheKey.lifetimesOf)(status);
    return lifetimes && { ...lifetimes, fresh: Math.min(lifetimes.fresh, MAX_FRESH) / 2 };
  },
});

/** One list that is merged. `fetch` requests its rows from legacy, `ask` sends any request; both as the caller. */
type MergedList = MergedListParts & {
  input: Input;
  missing: MissingRows;
  groups: readonly string[];
  deadline: number;
  fetch: FetchRows<Buffer, LegacyResult>;
  ask: AskLegacy;
  /** Answers from the cache, for this caller and this version of the index. `undefined`: nothing is cached. */
  cached?: (input: Input, wanted: Directives, fill: () => Promise<Fetched>) => Promise<Answered>;
};

/** Answers a list with its missing rows, cached for one caller and one version of the index. */
const answerMerged = async (
  parts: MergedListParts,
  { endpoint, input, bypass, wanted }: EndpointRequest,
  caller: KeyedRequest,
  missing: MissingRows,
): Promise<Served> => {
  const { services } = parts;
  const { cacheKey } = endpoint;
  const owner = services.keys.ownerOf(caller.key);
  const groups = [...(endpoint.cache?.groups(input) ?? []), PRIVATE_GROUP];
  const fetchMerged = async (by: Caller): Promise<Fetched> => {
    const started = performance.now();
    const asked = { ...by, key: caller.key };
    const { deadline } = asked;
    const [fetch, ask] = [fetchRowsOf(services, { endpoint, input }, asked), askAs(services, asked)];
    const list: MergedList = { ...parts, input, missing, groups, deadline, fetch, ask };
    if (cacheKey !== undefined)
      list.cached = (of, directives, fill) => {
        const request = { cacheKey: keyOf(cacheKey(of), missing), owner, wanted: directives };
        return services.cache.answer(request, fill, () => Promise.resolve(undefined));
      };
    const answer =
      (await answerPage(list, bypass ? { noCache: true } : wanted)) ?? answerOf(endpoint.notFound ?? noResults);
    const { status } = answer;
    services.hooks.onLegacyAnswer({ endpoint: endpoint.name, ms: performance.now() - started, status });
    return { answer, groups };
  };
  if (bypass || cacheKey === undefined) return { answered: uncached((await fetchMerged(caller)).answer, "bypass") };
  const answered = await services.cache.answer(
    { cacheKey: keyOf(cacheKey(input), missing), owner, wanted },
    (_as, isBackground) => fetchMerged(isBackground ? caller.background() : caller),
    caller.authorize,
  );
  return { answered };
};

/** The page that the input asks for; `undefined`: it is empty. */
const answerPage = async (list: MergedList, wanted: Directives): Promise<Answer | undefined> => {
  const { input, missing } = list;
  const all = await fetchIds(list, wanted);
  if (all.answer.status !== 200) return all.answer;
  const listed = new Set(JSON.parse(all.answer.body.toString()) as number[]);
  const page = { offset: Number(input["offset"]), limit: Number(input["limit"]) };
  const ids = mergedPage([...listed], missing.added.keys(), page);
  let { rows } = all;
  if (rows === undefined) {
    const wantedIds = ids.filter((id) => listed.has(id));
    const fetched = await fetchListed(list.fetch, wantedIds, MAX_IDS_ASKED);
    // The list has changed, or the page is too large: the list is read again, if not for several callers, then for this one.
    if (fetched === undefined) return answerPage(list, wanted.noCache ? { noStore: true } : { noCache: true });
    if (!fetched.ok) return answerFrom(fetched.other);
    ({ rows } = fetched);
  }
  const written = ids.map((id) => rows.get(id) ?? Buffer.from(JSON.stringify(missing.added.get(id))));
  if (written.length === 0) return undefined;
  const separated = written.flatMap((row, i) => (i === 0 ? row : [comma, row]));
  return { status: 200, body: Buffer.concat([open, ...separated, close]) };
};

/** The ids of all rows that legacy lists to the caller, as JSON; and the rows, unless the ids were cached. */
const fetchIds = async (
  list: MergedList,
  wanted: Directives,
): Promise<{ answer: Answer; rows: ReadonlyMap<number, Buffer> | undefined }> => {
  const { input, groups } = list;
  let rows: ReadonlyMap<number, Buffer> | undefined;
  const fill = async (): Promise<Fetched> => {
    const matches = rowMatcher(input);
    const whole = await inTurn(list.wholeLists, list.deadline - Date.now(), () =>
      fetchWhole(list.fetch, {
        isWorthParts: (other) =>
          "outcome" in other && (other.outcome.kind === "broken" || other.outcome.kind === "tooSlow"),
        ids: () => list.listableIds().filter((id) => matches({ id }) !== false),
        maxIds: MAX_IDS_ASKED,
      }),
    );
    if (whole === "noTurn") return { answer: answerOf(tooManyLists), groups: [] };
    if (!whole.ok) return { answer: answerFrom(whole.other), groups: [] };
    ({ rows } = whole);
    await list.onWholeList(input, rows, list.ask);
    return { answer: { status: 200, body: JSON.stringify([...rows.keys()].toSorted((a, b) => a - b)) }, groups };
  };
  if (list.cached === undefined) return { answer: (await fill()).answer, rows };
  const { onlyIfCached: _, maxStale: __, ...fresh } = wanted;
  const answered = await list.cached({ ...input, ...allRows }, fresh, fill);
  const { status, body, headers } = "entry" in answered ? answered.entry : answered.representation;
  return { answer: { status, body: body.toString("utf8"), ...(headers ? { headers } : {}) }, rows };
};

/** Fetches rows as the caller. The whole list gets half of the time that is left, so that its rows can still be fetched by ids. */
const fetchRowsOf = (
  services: Services,
  { endpoint, input }: Pick<EndpointRequest, "endpoint" | "input">,
  caller: Caller,
): FetchRows<Buffer, LegacyResult> => {
  return async (part) => {
    const asked = {
      ...input,
      ...("limit" in part ? allRows : { data_id: part.ids, offset: 0, limit: part.ids.length }),
    };
    const request = endpoint.legacy(asked);
    if ("unsent" in request) return { ok: false, other: { outcome: { kind: "broken", message: request.unsent } } };
    const deadline = "limit" in part ? (Date.now() + caller.deadline) / 2 : caller.deadline;
    const result = await fetchAnswer(services, endpoint, request, { ...caller, deadline }, asked, "rows");
    if (!("written" in result))
      return result.outcome.kind === "notFound" ? { ok: true, rows: new Map() } : { ok: false, other: result };
    const { body, rows = [] } = result.written;
    if ("limit" in part && rows.length >= part.limit) return { ok: false, other: { outcome: tooManyRows } };
    const bytes = bytesOf(body);
    return { ok: true, rows: new Map(rows.map(({ id, start, end }) => [id, bytes.subarray(start, end)])) };
  };
};
