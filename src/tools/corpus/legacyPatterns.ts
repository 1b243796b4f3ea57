import type { Field } from "../../endpoint/field.ts";
import { unescaped } from "../../endpoint/input.ts";
import type { NamedEndpoint } from "./named.ts";

/** What legacy is asked by an endpoint, read backwards. */
export type LegacyPattern = {
  endpoint: NamedEndpoint;
  method: "GET" | "POST";
  /** The words and fields every such path has. */
  segments: (string | { field: string })[];
  /** The fields by the names they have in pairs after that, or in the form of a POST. */
  named: ReadonlyMap<string, string>;
};

/** Two values that no endpoint has in its paths, as plain as they can be and not plain at all: some ask for them by another method. */
const sentinels = [(i: number) => String(900_000_001 + i), (i: number) => `~ ${900_000_001 + i} é`];

/** The patterns of what `legacy()` requests, found by asking with values that are known again in its answer. */
export const legacyPatterns = (endpoint: NamedEndpoint): LegacyPattern[] => {
  const found = new Map<string, LegacyPattern>();
  for (const sentinel of sentinels) {
    const pattern = patternBy(endpoint, sentinel);
    if (pattern && !found.has(pattern.method)) found.set(pattern.method, pattern);
  }
  return [...found.values()];
};

const patternBy = (endpoint: NamedEndpoint, sentinel: (i: number) => string): LegacyPattern | undefined => {
  const fields = Object.entries(endpoint.input) as [string, Field<unknown>][];
  const names = new Map(fields.map(([name], i) => [sentinel(i), name]));
  const input = fields.map(([name, field], i) => {
    const reading = field.fromText(sentinel(i));
    return [name, "value" in reading ? reading.value : sentinel(i)] as const;
  });
  const request = endpoint.legacy(Object.fromEntries(input));
  if ("unsent" in request) return undefined;

  const { method, path, form = {} } = request;
  const segments = segmentsOf(path).map((word) => {
    const field = names.get(word);
    return field === undefined ? word : { field };
  });
  const named = new Map<string, string>();
  for (const [name, value] of Object.entries(form)) {
    const field = names.get(value);
    if (field !== undefined) named.set(name, field);
  }
  for (;;) {
    const [name, last] = segments.slice(-2);
    // What has to be given is a part of the path.
    if (
      method !== "GET" ||
      typeof name !== "string" ||
      typeof last !== "object" ||
      !endpoint.input[last.field]?.fallback
    )
      break;
    named.set(name, last.field);
    segments.splice(-2);
  }
  const found_fields = new Set([
    ...named.values(),
    ...segments.flatMap((one) => (typeof one === "string" ? [] : [one.field])),
  ]);
  return found_fields.size === fields.length ? { endpoint, method, segments, named } : undefined;
};

/** `/data/list/` -> `["data", "list"]`, without escapes. */
export const segmentsOf = (path: string): string[] =>
  path
    .split("/")
    .filter((segment) => segment !== "")
    .map(unescaped);
