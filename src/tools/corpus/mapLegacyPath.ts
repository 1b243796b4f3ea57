import type { Field } from "../../endpoint/field.ts";
import { givenInPath, readInput, unescaped } from "../../endpoint/input.ts";
import { isKeyName } from "../../legacy/legacyKey.ts";
import type { JsonObject } from "../../rules/rule.ts";
import type { CorpusRequest, NamedEndpoint, SkipReason } from "./corpusRequest.ts";
import { requestFor } from "./madeRequests.ts";

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
const segmentsOf = (path: string): string[] =>
  path
    .split("/")
    .filter((segment) => segment !== "")
    .map(unescaped);

type Texts = Record<string, string>;

/** The request to the new interface by which legacy would be asked just this: `path` is below `/api/v1/json`. */
export const mapLegacyPath = (
  patterns: readonly LegacyPattern[],
  method: "GET" | "POST",
  path: string,
  body: string | undefined,
): { ask: CorpusRequest } | { skipped: SkipReason } => {
  const segments = segmentsOf(path);
  let skipped: SkipReason = "not an endpoint";
  for (const pattern of patterns) {
    if (pattern.method !== method) continue;
    const inPath = textsIn(pattern, segments);
    if (inPath === undefined || isVerb(patterns, pattern, segments)) continue;
    if (pattern.endpoint.writes) return { skipped: "a write" };
    if (method === "POST" && body === undefined) return { skipped: "a POST without its body" };
    const texts = method === "POST" ? textsInForm(pattern, body ?? "") : inPath;
    const ask = texts && requestBack(pattern, texts);
    if (ask) return { ask };
    skipped = "only for legacy";
  }
  return { skipped };
};

/** What a path gives, by the names of our fields; `undefined` where it is another path. */
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

/** `/study/list` is no study of that name: what is a word of legacy's in one path is none's name in the same place of another. */
const isVerb = (all: readonly LegacyPattern[], { segments }: LegacyPattern, path: readonly string[]): boolean =>
  segments.some((word, i) => typeof word !== "string" && all.some((other) => other.segments[i] === path[i]));

/** The ask of these texts, where legacy would then be asked the same again. */
const requestBack = (pattern: LegacyPattern, texts: Texts): CorpusRequest | undefined => {
  const { endpoint } = pattern;
  const reading = readInput(endpoint.input, givenInPath(texts), "path");
  if ("errors" in reading) return undefined;
  const request = endpoint.legacy(reading.input);
  if ("unsent" in request) return undefined;
  if (pattern.method === "GET") {
    // Defaults are sent along; what was asked has to be there as it was.
    const again = request.method === "GET" ? textsIn(pattern, segmentsOf(request.path)) : undefined;
    if (!again || Object.entries(texts).some(([field, text]) => again[field] !== text)) return undefined;
  }
  const given = Object.keys(texts).map((field) => [field, reading.input[field]] as const);
  return requestFor(endpoint.name, endpoint, Object.fromEntries(given) as JsonObject);
};
