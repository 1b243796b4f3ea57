/** A part of a list: all rows that match (at most `limit`), or those of them with these ids. */
export type ListPart = { limit: number } | { ids: readonly number[] };

/** Rows by id, or what legacy answered instead. */
export type FetchedRows<Row, Other> = { ok: true; rows: ReadonlyMap<number, Row> } | { ok: false; other: Other };

/** Asks legacy for a part of a list. */
export type FetchRows<Row, Other> = (part: ListPart) => Promise<FetchedRows<Row, Other>>;

/** More than any list has: an answer with fewer rows is complete. */
export const MAX_ROWS = 1_000_000;
/** Requests for a list that legacy cannot give in one answer, and for one page of a list whose ids are known. */
const MAX_REQUESTS_WHOLE = 64;
const MAX_REQUESTS_PAGE = 4;

/** `undefined`: it would take too many requests. */
const fetchByIds = async <Row, Other>(
  fetch: FetchRows<Row, Other>,
  ids: readonly number[],
  maxIds: number,
  maxRequests: number,
): Promise<FetchedRows<Row, Other> | undefined> => {
  if (ids.length > maxIds * maxRequests) return undefined;
  const rows = new Map<number, Row>();
  for (let i = 0; i < ids.length; i += maxIds) {
    const part = await fetch({ ids: ids.slice(i, i + maxIds) });
    if (!part.ok) return part;
    for (const [id, row] of part.rows) rows.set(id, row);
  }
  return { ok: true, rows };
};

/**
 * Fetches all rows that match, in one request: legacy's lists have no order, so that its pages may repeat and omit rows. If legacy fails
 * at that and `isWorthParts` says so, fetches them by `ids()`, which are all ids that there may be rows of, `maxIds` at a time.
 */
export const fetchWhole = async <Row, Other>(
  fetch: FetchRows<Row, Other>,
  {
    isWorthParts,
    ids,
    maxIds,
  }: { isWorthParts: (other: Other) => boolean; ids: () => readonly number[]; maxIds: number },
): Promise<FetchedRows<Row, Other>> => {
  const whole = await fetch({ limit: MAX_ROWS });
  if (whole.ok || !isWorthParts(whole.other)) return whole;
  return (await fetchByIds(fetch, ids(), maxIds, MAX_REQUESTS_WHOLE)) ?? whole;
};

/** Fetches rows by ids. `undefined`: legacy does not list all of them any more, or one request for the whole list is cheaper. */
export const fetchListed = async <Row, Other>(
  fetch: FetchRows<Row, Other>,
  ids: readonly number[],
  maxIds: number,
): Promise<FetchedRows<Row, Other> | undefined> => {
  const fetched = await fetchByIds(fetch, ids, maxIds, MAX_REQUESTS_PAGE);
  return fetched?.ok === true && !ids.every((id) => fetched.rows.has(id)) ? undefined : fetched;
};

/** The ids on one page of all rows together, in their order, each once. */
export const mergedPage = (
  listed: readonly number[],
  added: Iterable<number>,
  { offset, limit }: { offset: number; limit: number },
): number[] => [...new Set([...listed, ...added])].toSorted((a, b) => a - b).slice(offset, offset + limit);
