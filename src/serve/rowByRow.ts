import type { ListedRows } from "../endpoint/endpoint.ts";
import type { Json } from "../rules/rule.ts";
import { type RowPlaces, rowsOnPage } from "../reading/findRows.ts";
import type { Written } from "../reading/readAnswer.ts";

type Input = Record<string, unknown>;

/** What asking for some rows came to. `unparsable`: where rows may stand in the forms of an answer that is parsed in neither. */
export type SomeRows<Other> =
  | { written: Written }
  | { none: true }
  | { unparsable: readonly RowPlaces[] }
  | { other: Other };

/** How some of a list's rows are fetched, and how one is that no list shows in a form that can be parsed. */
export type RowWays<Other> = {
  fetch: (input: Input) => Promise<SomeRows<Other>>;
  fetchApart: (id: number, pages: readonly RowPlaces[]) => Promise<{ written: Written } | { other: Other } | undefined>;
};

/** Rows of one page that are read apart, at most. */
const MAX_APART = 5;

/** A row that has been read: its bytes, what its page shows of it, its excerpt. */
type ReadRow = { id: number; bytes: Buffer; text: string; excerpt: Json };

/**
 * Puts a page together that can be parsed in neither form. The ids are read from its text; rows are fetched by them with the same filters, in
 * halves down to single rows, and a few that still cannot be read are fetched apart. The text is not trusted: in the end the page must hold
 * exactly the rows that were read, so that a text that looks like a row adds and costs no row. `undefined` where that cannot be shown;
 * `other` is what else legacy answered.
 */
export const readRowByRow = async <Other>(
  rows: ListedRows<Input>,
  input: Input,
  pages: readonly RowPlaces[],
  { fetch, fetchApart }: RowWays<Other>,
): Promise<{ written: Written } | { other: Other } | undefined> => {
  const page = pages.find(({ isWhole, places }) => isWhole && places.length > 0);
  if (page === undefined) return undefined;
  const read = new Map<number, ReadRow>();
  const left = firstGroups(page, pages, rows.most);
  // A single row that makes the whole page has been fetched already.
  const isAlone = left.length === 1 && left[0]?.length === 1;
  let apart = 0;
  for (let ids = left.pop(); ids !== undefined; ids = left.pop()) {
    const among = rows.among(input, ids);
    if (among === undefined) continue;
    const [id = 0, another] = ids;
    let some: SomeRows<Other> | undefined = isAlone ? { unparsable: pages } : await fetch(among);
    if ("unparsable" in some && another === undefined)
      some = apart++ < MAX_APART ? await fetchApart(id, some.unparsable) : undefined;
    if (some === undefined || "other" in some) return some;
    if ("written" in some && !collect(some.written, read)) return undefined;
    if (!("unparsable" in some)) continue;
    const middle = ids.length >> 1;
    left.push(ids.slice(middle), ids.slice(0, middle));
  }
  const ids = rowsOnPage(page.places, new Map([...read].map(([id, { text }]) => [id, text])));
  return ids && { written: together(ids.map((id) => read.get(id) as ReadRow)) };
};

/** Rows that break one form are fetched apart from those that break the other, so that most groups can be read. */
const firstGroups = ({ places }: RowPlaces, pages: readonly RowPlaces[], most: number): number[][] => {
  const ids = [...new Set(places.map(({ id }) => id))];
  const [inJson, inXml] = [pages[0], pages.at(-1)].map(
    (page) => new Set(page?.places.filter(({ isOdd }) => isOdd).map(({ id }) => id)),
  ) as [Set<number>, Set<number>];
  const both = ids.filter((id) => inJson.has(id) && inXml.has(id));
  const groups = [
    ...(both.length > MAX_APART ? [both] : both.map((id) => [id])),
    ids.filter((id) => inJson.has(id) && !inXml.has(id)),
    ids.filter((id) => !inJson.has(id)),
  ].filter(({ length }) => length > 0);
  const parts = groups.length === 1 && ids.length > 1 ? halves(ids) : groups;
  return parts.flatMap((group) => chunks(group, most));
};

const halves = (ids: number[]): number[][] => [ids.slice(0, ids.length >> 1), ids.slice(ids.length >> 1)];

const chunks = (ids: number[], most: number): number[][] =>
  Array.from({ length: Math.ceil(ids.length / most) }, (_, i) => ids.slice(i * most, (i + 1) * most));

/** False where one of the rows could pass for another. */
const collect = ({ body, rows = [], excerpt }: Written, read: Map<number, ReadRow>): boolean => {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  for (const [i, { id, start, end, text, isDeceptive }] of rows.entries()) {
    if (isDeceptive || Number.isNaN(id)) return false;
    read.set(id, { id, bytes: bytes.subarray(start, end), text, excerpt: (excerpt as Json[])[i] ?? null });
  }
  return true;
};

const [open, comma, close] = ["[", ",", "]"].map((sign) => Buffer.from(sign)) as [Buffer, Buffer, Buffer];

const together = (rows: readonly ReadRow[]): Written => {
  const parts: Buffer[] = [open];
  const placed: NonNullable<Written["rows"]> = [];
  let at = 1;
  for (const [i, { id, bytes, text }] of rows.entries()) {
    if (i > 0) parts.push(comma);
    const start = i > 0 ? at + 1 : at;
    at = start + bytes.length;
    parts.push(bytes);
    placed.push({ id, start, end: at, text });
  }
  parts.push(close);
  return { body: Buffer.concat(parts), excerpt: rows.map(({ excerpt }) => excerpt), rows: placed };
};
