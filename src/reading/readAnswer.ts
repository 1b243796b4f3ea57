import type { Endpoint, Knowledge, ListedRows } from "../endpoint/endpoint.ts";
import { transform } from "../endpoint/transform.ts";
import { type LegacyReading, readLegacy } from "../legacy/reading.ts";
import { type XmlReader, xmlReaderFor } from "../legacy/xml.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import { servingNote } from "../rules/notes.ts";
import { type Json, type JsonObject, isObject } from "../rules/rule.ts";
import { findRows, isTrustworthy, type RowPlaces } from "./findRows.ts";
import { own } from "../rules/compose.ts";

type Input = Record<string, unknown>;

/** An endpoint prepared for reading its answers; made once in each thread. */
export type Readable = Omit<Endpoint, "routes" | "legacy" | "summary" | "examples" | "first"> & {
  name: string;
  readXml: XmlReader;
};

/** Prepares an endpoint for reading its answers. */
export const readableOf = (name: string, endpoint: Endpoint): Readable => ({
  ...endpoint,
  name,
  readXml: xmlReaderFor(endpoint),
});

/**
 * One legacy answer to read. `answer`: our document as bytes. `rows`: the same, and where each row stands in it. `settled`: legacy's document
 * is the one that `recover` looks at, and ours is made of what that says.
 */
export type ReadTask = { endpoint: string; as: "answer" | "rows" | "settled"; input: Input };

/**
 * Where a row stands in the bytes of a list, its id and the text that stands behind that in legacy's page. `isDeceptive`: another of its texts
 * looks like a row.
 */
type RowBytes = { id: number; start: number; end: number; text: string; isDeceptive?: true };

/** Our document, written: a string where it was made in this thread, bytes with their `tag` where it comes from another one. */
export type Written = {
  body: string | Buffer;
  /** The hash that validates the bytes, where it is known already. */
  tag?: string;
  /** The members that the endpoint's `excerpt` names. */
  excerpt: Json;
  rows?: RowBytes[];
};

type Unreadable = Extract<LegacyReading, { is: "unreadable" }>;

/** A legacy answer after reading. `unknown`: the legacy fields that no rule knows. All but `written.body` is small: it crosses threads. */
export type Read =
  | Extract<LegacyReading, { is: "error" }>
  | (Unreadable & { rows?: RowPlaces })
  | ({ is: "document"; form: "json" | "xml"; unknown: string[] } & Converted);

/** A legacy document, converted and written; or its outcome; or why it does not fit. */
type Converted = { written: Written } | { outcome: Outcome } | { mismatch: string[]; rows?: RowPlaces };

/** Parses, transforms, validates and writes one legacy answer: all that takes time, in this or another thread. Never throws. */
export const readLegacyAnswer = (
  endpoint: Readable,
  { as, input }: ReadTask,
  body: Buffer,
  knowledge: Knowledge,
): Read => {
  const reading = readLegacy(body, endpoint.readXml);
  if (reading.is === "error") return reading;
  const places = () => (endpoint.rows === undefined ? {} : { rows: findRows(endpoint.rows, body) });
  if (reading.is === "unreadable") return { ...reading, ...places() };
  const { form, document } = reading;
  if (endpoint.rows !== undefined && !isTrustworthy(endpoint.rows, form, body, document, input["limit"]))
    return {
      is: "unreadable",
      why: `a text in its ${form === "json" ? "JSON" : "XML"} reads as a part of it`,
      ...places(),
    };
  const unknown = new Set<string>();
  const note = servingNote((field) => void (unknown.size < MAX_UNKNOWN && unknown.add(field.slice(0, MAX_NAME))));
  const converted = convert(endpoint, as, input, document, knowledge, note);
  return {
    is: "document",
    form,
    unknown: [...unknown],
    ...converted,
    ...("mismatch" in converted ? places() : {}),
  };
};

/** Transforms, validates and writes one small document that was put together from several legacy answers. */
export const convertDocument = (
  endpoint: Readable,
  as: "answer" | "rows",
  document: JsonObject,
  knowledge: Knowledge,
): Converted =>
  convert(
    endpoint,
    as,
    {},
    document,
    knowledge,
    servingNote(() => undefined),
  );

/** Most unknown fields that are noted of one answer, and most characters of a name. */
const MAX_UNKNOWN = 100;
const MAX_NAME = 64;

const convert = (
  endpoint: Readable,
  as: ReadTask["as"],
  input: Input,
  document: JsonObject,
  knowledge: Knowledge,
  note: ReturnType<typeof servingNote>,
): Converted => {
  const settled = as === "settled" ? endpoint.recover?.outcome?.(input, document) : undefined;
  if (settled) return { outcome: settled };
  const meant = as === "settled" ? endpoint.recover?.answer?.(input, document) : document;
  if (meant === undefined) return { mismatch: ["/: missing"] };
  const judged = endpoint.rejectDocument?.(meant, knowledge);
  if (judged) return { outcome: judged };
  const transformed = transform(endpoint.output, meant, note);
  return transformed.ok ? { written: write(endpoint, transformed.ours, as) } : { mismatch: transformed.mismatch };
};

const write = ({ excerpt, rows }: Readable, ours: Json, as: ReadTask["as"]): Written => ({
  ...(as === "rows" && rows !== undefined && Array.isArray(ours)
    ? writeRows(ours, rows)
    : { body: JSON.stringify(ours) }),
  excerpt: excerptOf(ours, excerpt),
});

const writeRows = (ours: Json[], { id, text, begins }: ListedRows<Input>): Pick<Written, "body" | "rows"> => {
  const texts = ours.map((row) => JSON.stringify(row));
  const rows: RowBytes[] = [];
  let at = 1;
  for (const [i, written] of texts.entries()) {
    const { [id]: its = null, [text]: shown = null, ...others } = ours[i] as JsonObject;
    const end = at + Buffer.byteLength(written);
    const isDeceptive = Object.values(others).some((value) => looksLikeRow(value, begins));
    rows.push({
      id: typeof its === "number" ? its : Number.NaN,
      start: at,
      end,
      text: typeof shown === "string" ? shown : "",
      ...(isDeceptive ? { isDeceptive } : {}),
    });
    at = end + 1;
  }
  return { body: `[${texts.join(",")}]`, rows };
};

const looksLikeRow = (value: Json, begins: RegExp): boolean => typeof value === "string" && value.search(begins) !== -1;

/** The members of these names, of an object or of each entry of a list; `null` for any other value. */
export const excerptOf = (ours: Json, names: readonly string[] = []): Json => {
  if (Array.isArray(ours)) return names.length === 0 ? [] : ours.map((row) => excerptOf(row, names));
  if (!isObject(ours)) return null;
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(ours, name) ? [[name, own(ours, name) as Json]] : [])),
  );
};
