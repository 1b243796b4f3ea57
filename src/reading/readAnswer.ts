import type { Answer } from "../endpoint/answer.ts";
import type { Endpoint, Knowledge } from "../endpoint/endpoint.ts";
import { transform } from "../endpoint/transform.ts";
import { type LegacyReading, readLegacy } from "../legacy/reading.ts";
import { type XmlReader, xmlReaderFor } from "../legacy/xml.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import { servingNote } from "../rules/notes.ts";
import { type Json, type JsonObject, isObject } from "../rules/rule.ts";
import { isTrustworthy } from "./isTrustworthy.ts";
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
 * One legacy answer to read. `answer`: our document as bytes. `lines`: each row of a list as a line. `recovered`: legacy's document
 * is the one that `recover` looks at, and ours is made of what that says.
 */
export type ReadTask = { endpoint: string; as: "answer" | "lines" | "recovered"; input: Input };

/** A document as an answer: its body is a string where it was made in this thread, bytes with their tag where it comes from another one. */
export type Written = {
  answer: Answer;
  /** The members that the endpoint's `excerpt` names. */
  excerpt: Json;
};

/** A legacy answer after reading. `unknown`: the legacy fields that no rule knows. All but the answer's body is small: it crosses threads. */
export type Read =
  | Exclude<LegacyReading, { is: "document" }>
  | ({ is: "document"; form: "json" | "xml"; unknown: string[] } & Converted);

/** A legacy document, converted and written; or its outcome; or why it does not fit. */
type Converted = { written: Written } | { outcome: Outcome } | { mismatch: string[] };

/** Parses, transforms, validates and writes one legacy answer: all that takes time, in this or another thread. Never throws. */
export const readLegacyAnswer = (
  endpoint: Readable,
  { as, input }: ReadTask,
  body: Buffer,
  knowledge: Knowledge,
): Read => {
  const reading = readLegacy(body, endpoint.readXml);
  if (reading.is !== "document") return reading;
  const { form, document } = reading;
  if (endpoint.texts !== undefined && !isTrustworthy(endpoint.texts, form, body, document, input["limit"]))
    return { is: "unreadable", why: `a text in its ${form === "json" ? "JSON" : "XML"} reads as a part of it` };
  const unknown = new Set<string>();
  const note = servingNote((field) => void (unknown.size < MAX_UNKNOWN && unknown.add(field.slice(0, MAX_NAME))));
  const converted = convert(endpoint, as, input, document, knowledge, note);
  return { is: "document", form, unknown: [...unknown], ...converted };
};

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
  const recovered = as === "recovered" ? endpoint.recover?.outcome?.(input, document) : undefined;
  if (recovered) return { outcome: recovered };
  const legacy = as === "recovered" ? endpoint.recover?.answer?.(input, document) : document;
  if (legacy === undefined) return { mismatch: ["/: missing"] };
  const rejected = endpoint.rejectDocument?.(legacy, knowledge);
  if (rejected) return { outcome: rejected };
  const transformed = transform(endpoint.output, legacy, note);
  return transformed.ok ? { written: write(endpoint, transformed.ours, as) } : { mismatch: transformed.mismatch };
};

const write = ({ excerpt }: Readable, ours: Json, as: ReadTask["as"]): Written => {
  const body =
    as === "lines" && Array.isArray(ours) ? ours.map((row) => JSON.stringify(row)).join("\n") : JSON.stringify(ours);
  return { answer: { status: 200, body }, excerpt: excerptOf(ours, excerpt) };
};

/** The members of these names, of an object or of each entry of a list; `null` for any other value. */
export const excerptOf = (ours: Json, names: readonly string[] = []): Json => {
  if (Array.isArray(ours)) return names.length === 0 ? [] : ours.map((row) => excerptOf(row, names));
  if (!isObject(ours)) return null;
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(ours, name) ? [[name, own(ours, name) as Json]] : [])),
  );
};
