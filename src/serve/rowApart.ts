import type { ListedRows, RowApart } from "../endpoint/endpoint.ts";
import type { LegacyRequest, Unsent } from "../endpoint/legacyRequest.ts";
import type { LegacyFailed, LegacyReply } from "../legacy/client.ts";
import type { JsonObject } from "../rules/rule.ts";
import { type RowPlaces, rowsOnPage } from "../reading/findRows.ts";

type Input = Record<string, unknown>;
type Ask = (request: LegacyRequest) => Promise<LegacyReply | LegacyFailed>;

/**
 * A row that its list shows, alone on a page, in a form that no parser reads: the list's document, made of what legacy tells of the row alone.
 * `undefined` where legacy does not tell of it, or tells of another text than the page has.
 */
export const documentApart = async (
  rows: ListedRows<Input>,
  apart: RowApart,
  id: number,
  pages: readonly RowPlaces[],
  ask: Ask,
): Promise<{ document: JsonObject } | LegacyFailed | undefined> => {
  const page = pages.find(({ isWhole, places }) => isWhole && places[0]?.id === id);
  if (page === undefined) return undefined;
  const one = await hear(ask, apart.one(id));
  if (one === undefined || "failed" in one) return one;
  if (one.document === undefined || apart.visibilityOf(one.document, id) === undefined) return undefined;
  const rest = await hear(ask, apart.rest(id));
  if (rest === undefined || "failed" in rest) return rest;
  if (rest.document === undefined && !apart.noRest.has(rest.code)) return undefined;
  const shown = apart.shown(one.document, rest.document);
  const text = textOnPage(rows, page, shown[rows.text]);
  if (text === undefined || rowsOnPage(page.places, new Map([[id, text]]))?.length !== 1) return undefined;
  return { document: apart.document([{ ...shown, [rows.text]: text }]) };
};

type Heard = { document: JsonObject } | { document?: undefined; code: number };

const hear = async (ask: Ask, request: LegacyRequest | Unsent): Promise<Heard | LegacyFailed | undefined> => {
  if ("unsent" in request) return undefined;
  const reply = await ask(request);
  if ("failed" in reply) return reply;
  const { reading, status } = reply;
  if (reading.is === "error") return { code: reading.code };
  return reading.is === "document" && status === 200 ? { document: reading.document } : undefined;
};

/** A list shows the blanks around a text; where legacy tells of a row alone, they are taken off. */
const textOnPage = ({ behind: textBehind }: ListedRows<Input>, page: RowPlaces, shown: unknown): string | undefined => {
  const [place] = page.places;
  if (place === undefined || typeof shown !== "string") return undefined;
  const { behind } = place;
  const start = behind.length - behind.trimStart().length;
  const after = behind.slice(start + shown.trim().length);
  const end = behind.length - after.trimStart().length;
  const isSame = behind.slice(start, end).trim() === shown.trim();
  return isSame && textBehind.test(behind.slice(end)) ? behind.slice(0, end) : undefined;
};
