import { readPairs } from "../../../fixtures/pairs.ts";
import type { Endpoint } from "../../../src/catalogue/endpoint/endpoint.ts";
import { transform } from "../../../src/catalogue/endpoint/transform.ts";
import { readLegacy } from "../../../src/catalogue/legacy/reading.ts";
import { xmlReaderFor } from "../../../src/catalogue/legacy/xml.ts";
import { servingNote } from "../../../src/catalogue/rules/notes.ts";
import { isObject, type Json, type JsonObject } from "../../../src/catalogue/rules/rule.ts";
import { pointerSteps } from "../../../src/catalogue/rules/pointer.ts";
import { catalogue } from "../../../transforms/catalogue.ts";

export const endpoints: Readonly<Record<string, Endpoint>> = catalogue.endpoints;

/** A fixture of one endpoint: legacy's document and ours. */
export type Shown = { name: string; endpoint: Endpoint; example: string; legacy: JsonObject; ours: Json };

/** Every fixture whose answer is a document made of one legacy document. */
export const shown = (name: string): Shown[] => {
  const endpoint = endpoints[name] as Endpoint;
  const readXml = xmlReaderFor(endpoint);
  return readPairs(name).flatMap(({ example, legacy, answer }) => {
    const [first] = legacy;
    if (answer.status !== 200 || legacy.length !== 1 || first === undefined) return [];
    const reading = readLegacy(Buffer.from(first.response.body), readXml);
    if (reading.is !== "document" || first.response.body.length > 50_000) return [];
    const transformed = transform(
      endpoint.output,
      reading.document,
      servingNote(() => undefined),
    );
    return transformed.ok ? [{ name, endpoint, example, legacy: reading.document, ours: transformed.ours }] : [];
  });
};

/** Every place of a document that holds no list or object with members. */
export const leavesOf = (value: Json, at = ""): string[] => {
  const members = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return members.length === 0 ? [at] : members.flatMap(([key, member]) => leavesOf(member, `${at}/${key}`));
};

export const valueAt = (document: Json, at: string): Json =>
  pointerSteps(at).reduce<Json>((value, step) => (value as JsonObject)[step] as Json, document);

/** The document with another value at a place; `undefined` takes the place away. */
export const changedAt = (document: Json, at: string, value: Json | undefined): Json => {
  const copy = structuredClone(document);
  const steps = pointerSteps(at);
  const last = steps.pop();
  if (last === undefined) return value ?? null;
  const parent = steps.reduce<Json>((inner, step) => (inner as JsonObject)[step] as Json, copy);
  if (value !== undefined) (parent as JsonObject)[last] = value;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as JsonObject)[last];
  return copy;
};

/** `/quality/3/name` -> with `*` for indices, as the comparer writes it. */
export const pathOf = (at: string): string => at.replaceAll(/\/\d+(?=\/|$)/g, "/*");
