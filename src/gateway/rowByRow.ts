import type { ListedRows } from "../endpoint/endpoint.ts";
import type { Json } from "../rules/rule.ts";
import { type RowPlaces, rowsOnPage } from "../reading/findRows.ts";
import type { Written } from "../reading/readAnswer.ts";

type Input = Record<string, unknown>;

/** What asking for some rows came to. `unparsable`: legacy's answer is parsed in neither form. */
export type SomeRows<Other> = { written: Written } | { none: true } | { unparsable: true } | { other: Other };

/** A row that has been read: its bytes, what its page shows of it, its excerpt. */
type ReadRow = { id: number; bytes: Buffer; text: string; excerpt: Json };

/**
 * A page that is parsed in neither form, put together from rows that are: the ids are read from its text, and the same filters are asked among
 * them, in halves down to single rows. Nothing of the text is believed: in the end the page must hold exactly the rows that were read, so that
 * a text that looks like a row adds none and costs none. `undefined` where that cannot be shown; `other` is what else legacy answered.
 */
export const readRowByRow = async <Other>(
  rows: ListedRows<Input>,
  input: Input,
  pages: readonly RowPlaces[],
  fetch: (input: Input) => Promise<SomeRows<Other>>,
): Promise<{ written: Written } | { other: Other } | undefined> => {
  const page = pages.find(({ isWhole, places }) => isWhole && places.length > 0);
  if (page === undefined) return undefined;
  const read = new Map<number, ReadRow>();
  const left = firstGroups(page, pages.at(-1) ?? page, rows.most);
  for (let ids = left.pop(); ids !== undefined; ids = left.pop()) {
    const among = rows.among(input, ids);
    if (among === undefined) continue;
    const some = await fetch(among);
    if ("other" in some) return some;
    if ("written" in some && !collect(some.written, read)) return undefined;
    if (!("unparsable" in some)) continue;
    if (ids.length === 1) return undefined;
    const middle = ids.length >> 1;
    left.push(ids.slice(middle), ids.slice(0, middle));
  }
  const ids = rowsOnPage(page.places, new Map([...read].map(([id, { text }]) => [id, text])));
  return ids && { written: together(ids.map((id) => read.get(id) as ReadRow)) };
};

/** What breaks XML is asked for apart from all others, so that most often both groups can be read; all at once has been tried. */
const firstGroups = ({ places }: RowPlaces, xml: RowPlaces, most: number): number[][] => {
  const ids = [...new Set(places.map(({ id }) => id))];
  const odd = new Set(xml.places.filter(({ isOdd }) => isOdd).map(({ id }) => id));
  const groups = [ids.filter((id) => odd.has(id)), ids.filter((id) => !odd.has(id))].filter(({ length }) => length > 0);
  const parts = groups.length === 1 && ids.length > 1 ? halves(ids) : groups;
  // A single row that makes the whole page has been asked for already.
  return ids.length === 1 ? [] : parts.flatMap((group) => chunks(group, most));
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
