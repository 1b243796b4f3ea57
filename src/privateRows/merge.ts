import type { Page } from "./knowledge.ts";

/** A row among others in the order of their ids. */
export type Placed<Row> = { id: number; row: Row };

/** Asks for a page of the listed rows; whatever else comes of it ends the merge. */
export type FetchPage<Row, Other> = (page: Page) => Promise<{ rows: Placed<Row>[] } | { other: Other }>;

/** Rows that are fetched beyond the page at most, because it is not known where in it the others come. */
const SLACK = 1000;

/**
 * A page of two ordered lists as if they were one: `added` is at hand, the listed rows are asked for. What is fetched is as long as the page
 * and a bound, however large the offset: where more of `added` could come before the page, single rows are asked for by halves
 * until it is known which do. `repeated` are ids of both.
 */
export const mergedPage = async <Row, Other>(
  added: readonly Placed<Row>[],
  { offset, limit }: Page,
  fetch: FetchPage<Row, Other>,
  slack = SLACK,
): Promise<{ rows: Row[] } | { repeated: number[] } | { other: Other }> => {
  // Of the rows before the page at least and at most so many are added ones.
  let [least, most] = [0, Math.min(added.length, offset)];
  while (most - least > slack) {
    const middle = (least + most) >> 1;
    const probe = await fetch({ offset: offset - middle - 1, limit: 1 });
    if ("other" in probe) return probe;
    const listed = probe.rows[0];
    if (listed === undefined || listed.id > idAt(added, middle)) least = middle + 1;
    else most = middle;
  }
  const start = offset - most;
  const fetched = await fetch({ offset: start, limit: limit + most - least });
  if ("other" in fetched) return fetched;
  const { rows: listed } = fetched;

  const page: Row[] = [];
  const repeated: number[] = [];
  let [i, j] = [0, 0];
  while (i < listed.length || j < added.length) {
    const rank = start + i + j;
    const [one, other] = [listed[i], added[j]];
    if (one !== undefined && one.id === other?.id) repeated.push(one.id);
    const isListed = other === undefined || (one !== undefined && one.id < other.id);
    const next = isListed ? one : other;
    if (rank >= offset && rank < offset + limit && next !== undefined) page.push(next.row);
    if (isListed) i++;
    else j++;
  }
  return repeated.length > 0 ? { repeated } : { rows: page };
};

const idAt = (rows: readonly Placed<unknown>[], at: number): number => rows[at]?.id ?? Infinity;
