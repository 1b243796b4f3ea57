import { fitOfOurs, isComplete } from "./fits.ts";
import type { Answer } from "../endpoint/answer.ts";
import { type OldForm, type OldFormTask, writeOldForm, writerOf } from "./oldForm.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { fitOf } from "../endpoint/transform.ts";
import { type LegacyReading, readLegacy } from "../legacy/reading.ts";
import type { LegacyWriter } from "../legacy/writeLegacy.ts";
import { type XmlReader, xmlReaderFor } from "../legacy/xml.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import { parseJson } from "../rules/parseJson.ts";
import { servingNote } from "../rules/notes.ts";
import type { Json } from "../rules/rule.ts";
import { isTrustworthy } from "./isTrustworthy.ts";
import { lossesOf } from "./losses.ts";

type Input = Record<string, unknown>;

/** An endpoint prepared for reading its answers; each thread prepares it once. */
export type Readable = Omit<Endpoint, "routes" | "legacy" | "summary" | "examples" | "first"> & {
  name: string;
  readXml: XmlReader;
  /** Made with the first document that is written back. */
  legacyWriter?: LegacyWriter;
};

/** Prepares an endpoint for reading its answers. */
export const readableOf = (name: string, endpoint: Endpoint): Readable => ({
  ...endpoint,
  name,
  readXml: xmlReaderFor(endpoint),
});

/**
 * A legacy answer to read. `answer`: our document as bytes. `lines`: each row of a list as a line. `recovered`:
 * legacy's document answers the request of `recover`, and our document is made from it. `isProved`: the result says
 * what of legacy's document our document, written back, would lose.
 */
export type ReadTask = { endpoint: string; as: "answer" | "lines" | "recovered"; input: Input; isProved?: boolean };

/**
 * A document as an answer: its body is a string if this thread made it, or bytes with their tag if another thread did.
 */
export type Written = {
  answer: Answer;
  /** The groups that it belongs to: a write to any of them invalidates it. */
  groups: readonly string[];
  /** The time until which legacy's workers may complete it: milliseconds since the epoch. */
  unfinishedUntil: number | undefined;
};

/**
 * A legacy answer after reading. `unknown`: the legacy fields that have no rule. Everything except the body is small:
 * it crosses threads.
 */
export type Read =
  | Exclude<LegacyReading, { is: "document" }>
  | ({ is: "document"; form: "json" | "xml"; unknown: string[] } & Converted);

type LegacyDocument = Extract<LegacyReading, { is: "document" }>;

/**
 * A legacy document, converted and written, with the places that are lost where our document is written back; or its
 * outcome; or the places at which it does not fit.
 */
type Converted = { written: Written; lost?: string[] | undefined } | { outcome: Outcome } | Unfit;

/** `complete`: the document departs only in single values, so old clients may get it. */
type Unfit = { mismatch: string[]; complete?: Pick<Written, "unfinishedUntil"> };

/**
 * Parses, transforms, validates and writes a legacy answer: all the work that takes time, in this or another thread.
 * Never throws.
 */
export const readLegacyAnswer = (endpoint: Readable, task: ReadTask, body: Buffer): Read => {
  const reading = readLegacy(body, endpoint.readXml);
  if (reading.is !== "document") return reading;
  const { form, document } = reading;
  if (endpoint.texts !== undefined && !isTrustworthy(endpoint.texts, form, body, document, task.input["limit"]))
    return { is: "unreadable", why: `a text in its ${form === "json" ? "JSON" : "XML"} reads as a part of it` };
  const unknown = new Set<string>();
  const note = servingNote((field) => void (unknown.size < MAX_UNKNOWN && unknown.add(field.slice(0, MAX_NAME))));
  const converted = convert(endpoint, task, reading, note);
  return { is: "document", form, unknown: "outcome" in converted ? [] : [...unknown], ...converted };
};

/** Limits for an answer: the number of unknown fields that are noted, and the characters of a name. */
const MAX_UNKNOWN = 100;
const MAX_NAME = 64;

const convert = (
  endpoint: Readable,
  { as, input, isProved = false }: ReadTask,
  reading: LegacyDocument,
  note: ReturnType<typeof servingNote>,
): Converted => {
  const { document } = reading;
  const recovered = as === "recovered" ? endpoint.recover?.outcome?.(input, document) : undefined;
  if (recovered) return { outcome: recovered };
  const legacy = as === "recovered" ? endpoint.recover?.answer?.(input, document) : document;
  if (legacy === undefined) return { mismatch: ["/: missing"] };
  const fit = fitOf(endpoint, input, endpoint.output.read(legacy, note, legacy));
  if ("outcome" in fit) return fit;
  if (fit.ok) {
    const written = write(endpoint, input, fit.ours, as);
    return isProved ? { written, lost: lostIn(endpoint, reading, fit.ours) } : { written };
  }
  const { mismatch, ours, issues } = fit;
  if (ours === undefined || !isComplete(endpoint.output, ours, issues)) return { mismatch };
  return { mismatch, complete: { unfinishedUntil: endpoint.cache?.unfinishedUntil?.(ours) } };
};

/** The places at which our document, written back in legacy's form, differs from legacy's. */
const lostIn = (endpoint: Readable, { form, document }: LegacyDocument, ours: Json): string[] | undefined => {
  const writer = writerOf(endpoint);
  return writer && lossesOf(document, writer.asRead(writer.documentOf(ours, form), form));
};

const write = ({ cache }: Readable, input: Input, ours: Json, as: ReadTask["as"]): Written => {
  const body =
    as === "lines" && Array.isArray(ours) ? ours.map((row) => JSON.stringify(row)).join("\n") : JSON.stringify(ours);
  return {
    answer: { status: 200, body },
    groups: cache?.groups(input, ours) ?? [],
    unfinishedUntil: cache?.unfinishedUntil?.(ours),
  };
};

/**
 * The jobs with a body: to read an answer of legacy, or of the new implementation, and to write one of ours as legacy
 * would. Each has its task and its result.
 */
export type Jobs = {
  oldForm: { task: OldFormTask; result: OldForm };
  legacy: { task: ReadTask; result: Read };
  modern: { task: Omit<ReadTask, "as">; result: ReadModern };
};

/** A 200 of the new implementation after reading; `failed`: the reason why its body is not a document. */
type ReadModern = Exclude<Converted, Unfit> | { mismatch: string[] } | { failed: string };

/** The data that a thread is started with; it holds no secret. */
export type ThreadData = {
  /** The URL of the module that exports the `endpoints`, by name. */
  module: string;
};

/** The message to a thread. `deadline`: on the clock of `performance.now()`, which all threads share. */
export type ThreadMessage = {
  of: keyof Jobs;
  task: Jobs[keyof Jobs]["task"];
  body: Uint8Array<ArrayBuffer>;
  deadline: number;
};

/** The answer of a thread; `late`: the deadline had passed before it began. */
export type ThreadResult = Jobs[keyof Jobs]["result"] | { failure: "late" };

const readers: {
  [K in keyof Jobs]: (e: Readable, task: Jobs[K]["task"], body: Buffer) => Jobs[K]["result"];
} = {
  legacy: readLegacyAnswer,
  oldForm: writeOldForm,
  modern: (endpoint, { input }, body) => {
    const document = parseJson(body.toString("utf8"));
    if (document === undefined) return { failed: "its answer is no JSON" };
    const fit = fitOfOurs(endpoint, input, document);
    if ("outcome" in fit) return fit;
    return fit.ok ? { written: write(endpoint, input, fit.ours, "answer") } : { mismatch: fit.mismatch };
  },
};

/**
 * Reads one body. The same function runs in the main thread and in the others, so that the result is
 * the same whatever its size.
 *
 * @throws An Error if the task names an endpoint that does not exist.
 */
export const runJob = <K extends keyof Jobs>(
  endpoints: ReadonlyMap<string, Readable>,
  of: K,
  task: Jobs[K]["task"],
  body: Buffer,
): Jobs[K]["result"] => {
  const endpoint = endpoints.get(task.endpoint);
  if (endpoint === undefined) throw new Error("a job names an endpoint that does not exist");
  return readers[of](endpoint, task, body);
};
