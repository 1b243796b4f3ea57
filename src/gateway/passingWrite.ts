import type { LegacyWriteKnowledge } from "../endpoint/legacyWrites.ts";
import { gunzipSync } from "node:zlib";
import type { Beginning } from "../passThrough/heldAnswer.ts";
import { collection, written } from "../endpoint/groups.ts";
import { pathOf, queryOf } from "./paths.ts";

/** As much of a body as is looked at for the fields that say what is written, in bytes. */
const LOOKED_AT = 64 * 1024;

const safe = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** A request that may write, while it passes through. */
export type PassingWrite = {
  chunk: (bytes: Buffer) => void;
  /** The groups that it touches, or may have touched where there is no answer; none where legacy has refused it unseen. */
  groups: (answer: Beginning | undefined) => string[];
  /** The entities that it names, be it that it touches others too. */
  named?: () => string[];
  /** The beginning of its body (latin1), where that is looked at anyway. */
  body?: () => string;
};

/** What a request writes, where it writes something that answers are about. */
export const passingWrite = (
  { writes, reads, refusals }: LegacyWriteKnowledge,
  method: string,
  target: string,
): PassingWrite | undefined => {
  if (safe.has(method)) return undefined;
  const segments = pathOf(target)
    .split("/")
    .filter((segment) => segment !== "")
    .map(unescaped);
  const start = segments.findIndex((segment) => Object.hasOwn(writes, segment));
  const write = writes[segments[start] ?? ""];
  if (write === undefined || reads.some((read) => read.test(`/${segments.slice(start).join("/")}`))) return undefined;
  const gone = method === "DELETE" ? (write.deletes ?? []).flatMap((kind) => written(kind, [])) : [];
  const isRefused = (answer: Beginning | undefined) => refusals.has(xmlCode(answer) ?? 0);
  if (!("fields" in write)) {
    const touched = write.kind === undefined ? gone : [collection(write.kind), ...gone];
    if (touched.length === 0) return undefined;
    return { chunk: () => undefined, groups: (answer) => (isRefused(answer) ? [] : touched) };
  }

  const chunks: Buffer[] = [];
  let size = 0;
  const begun = () => Buffer.concat(chunks).toString("latin1");
  const idsNamed = (): string[] => {
    const inPath = segments.slice(start + 1).filter((segment) => /^\d+$/.test(segment));
    const body = begun();
    const form = [queryOf(target), body].flatMap((text) => [...new URLSearchParams(text)]);
    const named = write.fields.flatMap((field) => [
      ...inForm(form, field),
      ...inParts(body, field),
      ...inXml(body, field),
    ]);
    return [...inPath, ...named].map((text) => text.trim());
  };
  return {
    body: begun,
    named: () => idsNamed().flatMap((id) => (isId(id) ? [`${write.kind}/${Number(id)}`] : [])),
    chunk(bytes) {
      if (size < LOOKED_AT) chunks.push(bytes.subarray(0, LOOKED_AT - size));
      size += bytes.length;
    },
    groups(answer) {
      // Else anybody could empty the cache, without a key.
      if (isRefused(answer)) return [];
      const ids = idsNamed();
      // Where it cannot be told for certain which one, it may be any.
      const certain = size <= LOOKED_AT && ids.every(isId);
      return [...written(write.kind, certain ? [...new Set(ids.map(Number))] : []), ...gone];
    },
  };
};

const isId = (text: string): boolean => /^\d{1,15}$/.test(text);

const unescaped = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** The code of an error in XML, where it begins an answer. */
const xmlCode = (answer: Beginning | undefined): number | undefined => {
  if (answer === undefined || !String(answer.headers["content-type"]).startsWith("text/xml")) return undefined;
  try {
    const isZipped = answer.headers["content-encoding"] === "gzip";
    const body = isZipped ? gunzipSync(answer.body, { maxOutputLength: LOOKED_AT }) : answer.body;
    const code = /^\s*(?:<\?xml[^>]*>\s*)?<oml:error[^>]*>\s*<oml:code>\s*(\d+)\s*</.exec(body.toString("latin1"))?.[1];
    return code === undefined ? undefined : Number(code);
  } catch {
    // Not all of it is here: it may be anything.
    return undefined;
  }
};

/** As PHP reads a name: blanks, dots and brackets within are a `_`. */
const spelled = (field: string): string => field.replaceAll("_", "[_. []");

/** What stands behind a bracket or a NUL is not of the name. */
const inForm = (form: [string, string][], field: string): string[] => {
  const name = new RegExp(String.raw`^ *${spelled(field)}(?:[[\0]|$)`);
  return form.filter(([given]) => name.test(given)).map(([, value]) => value);
};

const inParts = (body: string, field: string): string[] =>
  [
    ...body.matchAll(
      new RegExp(
        `name="? *${spelled(field)}"?[^\\r\\n]{0,200}\\r?\\n(?:[^\\r\\n]{1,200}\\r?\\n){0,5}\\r?\\n([^\\r\\n]{0,20})`,
        "gi",
      ),
    ),
  ].map(([, value = ""]) => value);

const inXml = (body: string, field: string): string[] =>
  [...body.matchAll(new RegExp(`<(?:\\w+:)?${field}>([^<]{0,20})<`, "gi"))].map(([, value = ""]) => value);
