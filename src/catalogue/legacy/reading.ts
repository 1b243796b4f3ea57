import { isUtf8 } from "node:buffer";
import { trimmed } from "../rules/blanks.ts";
import { own } from "../rules/compose.ts";
import { parseJson } from "../rules/parseJson.ts";
import { isObject, type Json, type JsonObject } from "../rules/rule.ts";
import { decodeHtml } from "../rules/parsers.ts";
import type { XmlReader } from "./xml.ts";
import type { LegacyError, Outcome } from "../endpoint/outcome.ts";

/** An answer of legacy: a document, an error with a legacy code, or a body that cannot be read. */
export type LegacyReading =
  | { is: "document"; document: JsonObject; form: "json" | "xml" }
  | { is: "error"; code: number; message: string; additional?: string }
  | { is: "unreadable"; why: string; empty?: true };

/** Reads a legacy body by its text, not by its content type. Never throws. */
export const readLegacy = (body: Buffer, readXml: XmlReader): LegacyReading => {
  if (!isUtf8(body)) return { is: "unreadable", why: "it is not UTF-8" };
  const text = withoutNotices(body.toString("utf8").trimStart(), readXml.harmless ?? []);
  if (text === "") return { is: "unreadable", why: "it is empty", empty: true };
  // PHP's HTML blocks are sometimes well-formed: only a document of `oml` elements is legacy's XML.
  const form = text.startsWith("{") ? "json" : /^(<\?xml[^>]*>\s*)?<oml:/.test(text) ? "xml" : undefined;
  if (form === undefined) return { is: "unreadable", why: "it is neither JSON nor legacy's XML" };
  const document = form === "json" ? parseJson(text) : readXml(text);
  if (!isObject(document))
    return { is: "unreadable", why: `its ${form === "json" ? "JSON" : "XML"} is not well-formed` };
  return readError(document, form) ?? { is: "document", document, form };
};

/** The beginning of PHP's notices, with display_errors on. */
export const NOTICE = '<div style="border:1px solid #990000;padding-left:20px;margin:0 0 10px 0;">';
const NOTICE_END = "</div>";

/**
 * The XML after PHP's notices, if all of them are known to be harmless; any other text unchanged. After an unknown
 * notice a part of the document may be missing.
 */
const withoutNotices = (text: string, harmless: readonly RegExp[]): string => {
  if (harmless.length === 0 || !text.startsWith(NOTICE)) return text;
  let at = 0;
  while (text.startsWith(NOTICE, at)) {
    const end = text.indexOf(NOTICE_END, at);
    const [, message = ""] =
      /<p>Message: +([^<]{1,200})<\/p>/.exec(text.slice(at, Math.max(at, end)).slice(0, 1000)) ?? [];
    if (!harmless.some((pattern) => pattern.test(message))) return text;
    at = end + NOTICE_END.length;
    while (text[at] === "\n" || text[at] === "\r") at++;
  }
  return text.startsWith("<", at) ? text.slice(at) : text;
};

const readError = (document: JsonObject, form: "json" | "xml"): LegacyReading | undefined => {
  const error = own(document, "error");
  if (error === undefined || Object.keys(document).length !== 1) return undefined;
  const code = isObject(error) ? own(error, "code") : undefined;
  if (!isObject(error) || typeof code !== "string" || !/^\d{1,6}$/.test(code))
    return { is: "unreadable", why: `its ${form} error has no code` };
  const additional = decodedText(own(error, "additional_information"));
  return {
    is: "error",
    code: Number(code),
    message: decodedText(own(error, "message")) ?? "",
    ...(additional === undefined ? {} : { additional }),
  };
};

/** Legacy encodes the texts of its errors once more than its format asks for. */
const decodedText = (text: Json | undefined): string | undefined =>
  typeof text === "string" && text !== "" ? trimmed(decodeHtml(text)) : undefined;

/** An error of legacy after reading: its code and its texts. */
export type CodedError = Extract<LegacyReading, { is: "error" }>;

/** Legacy's errors by their codes. */
export type ErrorTable = ReadonlyMap<number, LegacyError>;

/** The outcome for a legacy error, by its code, not by the status it came with. */
export const outcomeOf = (error: CodedError, table: ErrorTable): Outcome => {
  const row = table.get(error.code);
  if (row === undefined) return { kind: "unknown", ...detailOf(error) };
  if (row.kind === "misasked")
    return { kind: row.kind, message: "The legacy interface did not understand what it was asked." };
  const shown = row.as === undefined ? undefined : table.get(row.as);
  if (shown) return { kind: row.kind, code: String(shown.code), message: shown.message };
  return { kind: row.kind, ...detailOf(error) };
};

/** The outcome of an error at an endpoint, where the code may have a different meaning. */
export const outcomeAt = (
  { errors = {} }: { errors?: Readonly<Record<number, Outcome>> },
  error: CodedError,
  table: ErrorTable,
): Outcome => errors[error.code] ?? outcomeOf(error, table);

const detailOf = ({ code, message, additional }: CodedError) => ({
  code: String(code),
  message,
  ...(additional === undefined ? {} : { additional }),
});

/** The status for an unknown code: legacy's if it is a 4xx, else `undefined`: the outcome sets it. */
export const ownStatusOf = (outcome: Outcome, legacyStatus: number): number | undefined =>
  outcome.kind === "unknown" && legacyStatus >= 400 && legacyStatus < 500 ? legacyStatus : undefined;
