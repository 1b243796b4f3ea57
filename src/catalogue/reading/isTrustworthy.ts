import type { ListedTexts } from "../endpoint/endpoint.ts";
import { isObject, type Json, type JsonObject } from "../rules/rule.ts";

/**
 * True if a page with unescaped texts can be trusted: such a text may close its quotes and forge members, or whole
 * rows. Signs of a forgery: more rows than the `limit`; rows with different members; after the text, a member that
 * legacy does not have. JSON without escapes has two more: a backslash, which means itself there; and quotes that the
 * parsed document lacks, since a later member of the same name hides the first.
 */
export const isTrustworthy = (
  { entriesIn, members, text, isEscapedInJson }: ListedTexts,
  form: "json" | "xml",
  body: Buffer,
  document: JsonObject,
  limit: unknown,
): boolean => {
  const rows = entriesIn(document);
  if (typeof limit === "number" && rows.length > limit) return false;
  const isBare = form === "json" && !isEscapedInJson;
  if (isBare && (body.includes(0x5c) || countQuotes(body) !== quotesOf(document))) return false;
  let common: string | undefined;
  return rows.every((row) => {
    if (!isObject(row)) return false;
    const names = Object.keys(row);
    const behind = names[names.indexOf(text) + 1];
    if (isBare && behind !== undefined && !members.includes(behind)) return false;
    const own = (isBare ? names : members.filter((name) => Object.hasOwn(row, name))).join();
    common ??= own;
    return own === common;
  });
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
    else if (Array.isArray(value)) for (const entry of value) left.push(entry);
    else if (typeof value === "object" && value !== null)
      for (const name of Object.keys(value)) {
        count += 2;
        left.push(value[name] as Json);
      }
  }
  return count;
};
