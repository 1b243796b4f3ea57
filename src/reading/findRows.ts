import type { ListedRows } from "../endpoint/endpoint.ts";
import { isObject, type Json, type JsonObject } from "../rules/rule.ts";

type Rows = Pick<ListedRows<never>, "begins" | "ends">;

/** Where a row may begin in a page that cannot be parsed. */
type RowPlace = {
  id: number;
  /** Where its beginning starts, and the first character of its text, from the page's beginning. */
  start: number;
  at: number;
  /** What stands there, as far as it is looked at. */
  behind: string;
  /** Something between this place and the next one may break a parser of the page's form. */
  isOdd: boolean;
};

/** `isWhole`: the page ends as it should. */
export type RowPlaces = { places: RowPlace[]; isWhole: boolean };

/** Characters that are looked at of a row's text: legacy's names have 128 at most. */
const LOOKED_AT = 256;
/** Characters of a page's end. */
const END = 200;
/** More than any page has. */
const MAX_PLACES = 100_000;

const anyTag = /<\/?oml:/;
// oxlint-disable-next-line no-control-regex -- XML has them in no text
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;
/** In XML: a text that ends with its element. */
const isPlainInXml = (part: string): boolean => {
  const end = part.search(anyTag);
  return end !== -1 && part.startsWith("</", end) && !control.test(part.slice(0, end));
};
/** In JSON: a text that ends and has a next member behind it, as most have. */
// oxlint-disable-next-line no-control-regex -- JSON has them in no text
const plainInJson = /^[^"\\\u0000-\u001f]*"\s*,\s*"/;

/** Every place of a page where a row may begin; users' texts can look like one. Empty where there are more than `MAX_PLACES`. */
export const findRows = ({ begins, ends }: Rows, body: Buffer): RowPlaces => {
  // Line ends as the readers of both forms give them.
  const text = body.toString("utf8").replaceAll(/\r\n?/g, "\n");
  const isJson = /^\s*\{/.test(text);
  const isOdd = ({ at, behind }: RowPlace, end: number): boolean =>
    isJson ? !plainInJson.test(behind) : !isPlainInXml(text.slice(at, end));
  const places: RowPlace[] = [];
  let previous: RowPlace | undefined;
  for (const match of text.matchAll(begins)) {
    if (places.length >= MAX_PLACES) return { places: [], isWhole: false };
    const at = match.index + match[0].length;
    if (previous) previous.isOdd = isOdd(previous, match.index);
    const id = Number(match.slice(1).find((group) => group !== undefined));
    places.push((previous = { id, start: match.index, at, behind: text.slice(at, at + LOOKED_AT), isOdd: false }));
  }
  if (previous) previous.isOdd = isOdd(previous, text.length);
  return { places, isWhole: ends.test(text.slice(-END)) };
};

/**
 * The ids of the rows that a page really has, in its order. `textOf`: the text of each row that was read by itself; what looks like a row
 * within such a text is skipped. `undefined`: the page has a row whose text is not known.
 */
export const rowsOnPage = (places: readonly RowPlace[], textOf: ReadonlyMap<number, string>): number[] | undefined => {
  const ids: number[] = [];
  let end = 0;
  for (const { id, start, at, behind } of places) {
    if (start < end) continue;
    const text = textOf.get(id);
    if (text === undefined || text.length > LOOKED_AT || !behind.startsWith(text)) return undefined;
    ids.push(id);
    end = at + text.length;
  }
  return ids;
};

/**
 * Whether a page whose texts are not escaped can be trusted: a text may close its quotes and forge members, or rows, of its own. Forged
 * rows lack known members that other rows have. In JSON a backslash means itself, so a page with one is not trusted. Members hidden by a
 * later one of the same name leave quotes behind. A forged member follows the text, where legacy writes a member of every row. A page
 * with more rows than its `limit` has forged ones.
 */
export const isTrustworthy = (
  { entriesIn, members, mayLack, text }: Pick<ListedRows<never>, "entriesIn" | "members" | "mayLack" | "text">,
  form: "json" | "xml",
  body: Buffer,
  document: JsonObject,
  limit: unknown,
): boolean => {
  const rows = entriesIn(document);
  if (typeof limit === "number" && rows.length > limit) return false;
  if (form === "json" && (body.includes(0x5c) || countQuotes(body) !== quotesOf(document))) return false;
  const everyRows = members.filter((name) => !mayLack[form].includes(name));
  let common: string | undefined;
  for (const row of rows) {
    if (!isObject(row)) return false;
    const names = Object.keys(row);
    const behind = names[names.indexOf(text) + 1];
    if (form === "json" && behind !== undefined && !everyRows.includes(behind)) return false;
    const own = everyRows.filter((name) => Object.hasOwn(row, name)).join();
    if (common !== undefined && own !== common) return false;
    common = own;
  }
  return true;
};

const countQuotes = (body: Buffer): number => {
  let count = 0;
  for (let at = body.indexOf(0x22); at !== -1; at = body.indexOf(0x22, at + 1)) count++;
  return count;
};

/** Two for every name and text. Without recursion: the document may be deep. */
const quotesOf = (document: JsonObject): number => {
  let count = 0;
  const left: Json[] = [document];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === "string") count += 2;
    else if (Array.isArray(value)) for (const one of value) left.push(one);
    else if (typeof value === "object" && value !== null)
      for (const name of Object.keys(value)) {
        count += 2;
        left.push(value[name] as Json);
      }
  }
  return count;
};
