import type { RowsPage } from "../../endpoint/privateRows.ts";

/** A row and its id, by which lists are ordered. */
export type Placed<Row> = { id: number; row: Row };

/** All rows that a question matches, at most `limit` of them; or those of them that have these ids (at most `maxIds`). */
export type Part = { limit: number } | { ids: readonly number[] };

/** Asks legacy for a part of a list; rows come in any order. `other`: it answered with something else, or failed. */
export type FetchRows<Row, Other> = (part: Part) => Promise<{ rows: Placed<Row>[] } | { other: Other }>;

/** More than any list has: an answer with fewer rows is complete. */
export const MAX_ROWS = 1_000_000;
/** Requests for one list that legacy cannot give in one answer, and for one page of a list whose ids are known. */
const MAX_PARTS = 64;
const MAX_PAGE_PARTS = 4;

const partsOf = (ids: readonly number[], size: number): number[][] =>
  Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size));

const fetchParts = async <Row, Other>(
  parts: readonly number[][],
  fetch: FetchRows<Row, Other>,
): Promise<{ rows: Placed<Row>[] } | { other: Other }> => {
  const rows: Placed<Row>[] = [];
  for (const ids of parts) {
    const fetched = await fetch({ ids });
    if ("other" in fetched) return fetched;
    rows.push(...fetched.rows);
  }
  return { rows };
};

type WholeSettings<Row, Other> = {
  fetch: FetchRows<Row, Other>;
  /** Legacy may be able to give in parts what it could not give at once. */
  isWorthParts: (other: Other) => boolean;
  /** All ids that there may be rows of. */
  ids: () => readonly number[];
  maxIds: number;
};

/**
 * All rows that a question matches. Legacy's lists have no order, so that their pages may repeat rows and lack others: one answer has each
 * row once. Where it is too large or takes too long, the rows are asked for by their ids.
 */
export const fetchWhole = async <Row, Other>({
  fetch,
  isWorthParts,
  ids,
  maxIds,
}: WholeSettings<Row, Other>): Promise<{ rows: ReadonlyMap<number, Row> } | { other: Other }> => {
  let fetched = await fetch({ limit: MAX_ROWS });
  if ("other" in fetched && isWorthParts(fetched.other)) {
    const parts = partsOf(ids(), maxIds);
    if (parts.length <= MAX_PARTS) fetched = await fetchParts(parts, fetch);
  }
  return "other" in fetched ? fetched : { rows: byId(fetched.rows) };
};

const byId = <Row>(rows: readonly Placed<Row>[]): ReadonlyMap<number, Row> =>
  new Map(rows.map(({ id, row }) => [id, row]));

/** One page of a merged list: its ids, and of these the ones that legacy lists. */
export type MergedPage = { ids: number[]; listed: number[] };

/** The page of all rows together, by id. What legacy lists is not added once more. */
export const mergedPage = (
  listed: readonly number[],
  added: readonly Placed<unknown>[],
  { offset, limit }: RowsPage,
): MergedPage => {
  const isListed = new Set(listed);
  const all = new Set([...listed, ...added.map(({ id }) => id)]);
  const ids = [...all].toSorted((a, b) => a - b).slice(offset, offset + limit);
  return { ids, listed: ids.filter((id) => isListed.has(id)) };
};

/** The rows of these ids; `undefined` where legacy does not list all of them any more, or fewer requests give the whole list. */
export const fetchListed = async <Row, Other>(
  ids: readonly number[],
  fetch: FetchRows<Row, Other>,
  maxIds: number,
): Promise<{ rows: ReadonlyMap<number, Row> } | { other: Other } | undefined> => {
  const parts = partsOf(ids, maxIds);
  if (parts.length > MAX_PAGE_PARTS) return undefined;
  const fetched = await fetchParts(parts, fetch);
  if ("other" in fetched) return fetched;
  const rows = byId(fetched.rows);
  return ids.every((id) => rows.has(id)) ? { rows } : undefined;
};
