import type { LegacyForm, LegacyFormat } from "../endpoint/legacyForm.ts";
import { type LegacyWriter, legacyWriter } from "../legacy/writeLegacy.ts";
import { parseJson } from "../rules/parseJson.ts";
import type { Answer } from "../endpoint/answer.ts";
import type { Rule } from "../rules/rule.ts";

/**
 * A document of ours, to be written in legacy's form. Its rows are only counted if there are as many as `page`.
 * `others`: the documents, joined as one JSON list, that answer what an earlier result `needs`.
 */
export type OldFormTask = { endpoint: string; format: LegacyFormat; page?: number | undefined; others?: string };

/**
 * The document in legacy's form. `rows`: of a list. `needs`: legacy's form has values that are not in our document, but
 * in the answers to these inputs of another endpoint.
 */
export type OldForm = { rows: number } & (
  | { written: { answer: Answer } }
  | { needs: Record<string, unknown>[] }
  | { failed: string }
);

/** An endpoint whose documents can be written in legacy's form. Each thread makes the writer once. */
type Writable = { output: Rule; legacyForm?: LegacyForm; legacyWriter?: LegacyWriter };

/** The writer of an endpoint; `undefined`: legacy's form of its documents is not known. */
export const writerOf = (endpoint: Writable): LegacyWriter | undefined => {
  const { output, legacyForm } = endpoint;
  if (legacyForm !== undefined) endpoint.legacyWriter ??= legacyWriter(output, legacyForm);
  return endpoint.legacyWriter;
};

/** Writes a document of ours in legacy's form. */
export const writeOldForm = (
  endpoint: Writable,
  { format, page = Infinity, others }: OldFormTask,
  body: Buffer,
): OldForm => {
  const ours = parseJson(body.toString("utf8"));
  const rows = Array.isArray(ours) ? ours.length : 0;
  const writer = writerOf(endpoint);
  if (ours === undefined || writer === undefined) return { rows, failed: "it has no form of legacy" };
  const complete = format === "xml" ? endpoint.legacyForm?.complete : undefined;
  if (complete && Array.isArray(ours) && others === undefined) return { rows, needs: complete.inputs(ours) };
  if (rows >= page) return { rows, needs: [] };
  const document = writer.documentOf(ours, format);
  const known = others === undefined ? undefined : parseJson(others);
  const whole = complete && Array.isArray(known) ? complete.into(document, known) : document;
  if (whole === undefined) return { rows, failed: "a row lacks a value" };
  const type = format === "json" ? "application/json; charset=utf-8" : "text/xml; charset=utf-8";
  return { rows, written: { answer: { status: 200, type, body: writer.write(whole, format) } } };
};
