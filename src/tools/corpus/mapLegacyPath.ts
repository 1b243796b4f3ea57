import type { Field } from "../../endpoint/field.ts";
import { givenInPath, readInput, unescaped } from "../../endpoint/input.ts";
import { isKeyName } from "../../legacy/formFields.ts";
import type { JsonObject } from "../../rules/rule.ts";
import type { CorpusRequest, NamedEndpoint, SkipReason } from "./corpusRequest.ts";
import { requestFor } from "./madeRequests.ts";

/** The form of an endpoint's requests to legacy, by which legacy's paths are read back into its input. */
export type LegacyPattern = {
  endpoint: NamedEndpoint;
  method: "GET" | "POST";
  /** The words and fields at the beginning of each such path. */
  segments: (string | { field: string })[];
  /** The fields by their names in the pairs after that, or in the form of a POST. */
  named: ReadonlyMap<string, string>;
};

/** Two values that occur in no path. The second needs escapes: some endpoints ask for such values by POST. */
const sentinels = [(i: number) => String(900_000_001 + i), (i: number) => `~ ${900_000_001 + i} é`];

/** The patterns of an endpoint's requests to legacy, found by calling `legacy()` with values that are recognized in the result. */
export const legacyPatterns = (endpoint: NamedEndpoint): LegacyPattern[] => {
  const found = new Map<string, LegacyPattern>();
  // A write is recognized by its plain values, or not at all.
  for (const sentinel of endpoint.writes ? sentinels.slice(0, 1) : sentinels) {
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
    // A required field is part of the path itself.
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
  const locatedFields = new Set([
    ...named.values(),
    ...segments.flatMap((one) => (typeof one === "string" ? [] : [one.field])),
  ]);
  return locatedFields.size === fields.length ? { endpoint, method, segments, named } : undefined;
};

/** `/data/list/` -> `["data", "list"]`, without escapes. */
const segmentsOf = (path: string): string[] =>
  path
    .split("/")
    .filter((segment) => segment !== "")
    .map(unescaped);

type Texts = Record<string, string>;

/** The request to the new interface for which the gateway sends legacy exactly this one. `path` is below `/api/v1/json`. */
export const mapLegacyPath = (
  patterns: readonly LegacyPattern[],
  method: "GET" | "POST",
  path: string,
  body: string | undefined,
): { request: CorpusRequest } | { skipped: SkipReason } => {
  const segments = segmentsOf(path);
  let skipped: SkipReason = "not an endpoint";
  for (const pattern of patterns) {
    if (pattern.method !== method) continue;
    const inPath = textsIn(pattern, segments);
    if (inPath === undefined || isVerb(patterns, pattern, segments)) continue;
    if (pattern.endpoint.writes) return { skipped: "a write" };
    if (method === "POST" && body === undefined) return { skipped: "a POST without its body" };
    const texts = method === "POST" ? textsInForm(pattern, body ?? "") : inPath;
    const request = texts && requestBack(pattern, texts);
    if (request) return { request };
    skipped = "only for legacy";
  }
  return { skipped };
};

/** The texts in a path by our fields' names; `undefined` where the path does not match. */
const textsIn = ({ segments, named, method }: LegacyPattern, path: readonly string[]): Texts | undefined => {
  const pairs = path.slice(segments.length);
  if (path.length < segments.length || pairs.length % 2 === 1 || (method === "POST" && pairs.length > 0))
    return undefined;
  const texts: Texts = {};
  for (const [i, word] of segments.entries()) {
    const segment = path[i] as string;
    if (typeof word !== "string") texts[word.field] = segment;
    else if (word !== segment) return undefined;
  }
  for (let i = 0; i < pairs.length; i += 2) {
    const field = named.get(pairs[i] as string);
    if (field === undefined || Object.hasOwn(texts, field)) return undefined;
    texts[field] = pairs[i + 1] as string;
  }
  return texts;
};

const textsInForm = ({ named }: LegacyPattern, form: string): Texts | undefined => {
  const texts: Texts = {};
  for (const [name, value] of new URLSearchParams(form)) {
    if (isKeyName(name)) continue;
    const field = named.get(name);
    if (field === undefined || Object.hasOwn(texts, field)) return undefined;
    texts[field] = value;
  }
  return texts;
};

/** `/study/list` is not the study `list`: a word of one of legacy's paths is not a name at the same place of another. */
const isVerb = (all: readonly LegacyPattern[], { segments }: LegacyPattern, path: readonly string[]): boolean =>
  segments.some((word, i) => typeof word !== "string" && all.some((other) => other.segments[i] === path[i]));

/** The request with these texts; `undefined` if the gateway would send legacy another one for it. */
const requestBack = (pattern: LegacyPattern, texts: Texts): CorpusRequest | undefined => {
  const { endpoint } = pattern;
  const reading = readInput(endpoint.input, givenInPath(texts), "path");
  if ("errors" in reading) return undefined;
  const request = endpoint.legacy(reading.input);
  if ("unsent" in request) return undefined;
  if (pattern.method === "GET") {
    // The gateway adds defaults. All given fields must be unchanged.
    const again = request.method === "GET" ? textsIn(pattern, segmentsOf(request.path)) : undefined;
    if (!again || Object.entries(texts).some(([field, text]) => again[field] !== text)) return undefined;
  }
  const given = Object.keys(texts).map((field) => [field, reading.input[field]] as const);
  return requestFor(endpoint.name, endpoint, Object.fromEntries(given) as JsonObject);
};
