import type { NamedEndpoint } from "../endpoint/endpoint.ts";
import { unescaped } from "../endpoint/input.ts";

/** The form of an endpoint's requests to legacy; with it a path of legacy is read back into the endpoint's input. */
export type LegacyPattern = {
  endpoint: NamedEndpoint;
  /** The words and fields at the beginning of each such path. */
  segments: (string | { field: string })[];
  /** The fields by their names in the pairs after that. */
  named: ReadonlyMap<string, string>;
};

/**
 * The patterns of an endpoint's GETs, found by calling `legacy()` with values that occur in no path and are recognized
 * in the result.
 */
export const legacyPattern = (endpoint: NamedEndpoint): LegacyPattern[] => {
  const fields = Object.entries(endpoint.input);
  const names = new Map(fields.map(([name], i) => [String(900_000_001 + i), name]));
  const input = fields.map(([name, field], i) => {
    const reading = field.fromText(String(900_000_001 + i));
    return [name, "value" in reading ? reading.value : String(900_000_001 + i)] as const;
  });
  const request = endpoint.legacy(Object.fromEntries(input));
  if ("unsent" in request || request.method !== "GET") return [];

  const segments = segmentsOf(request.path).map((word) => {
    const field = names.get(word);
    return field === undefined ? word : { field };
  });
  const inPath = segments.filter((segment) => typeof segment === "object").length;
  const named = new Map<string, string>();
  for (;;) {
    const [name, last] = segments.slice(-2);
    // A required field is part of the path itself.
    if (typeof name !== "string" || typeof last !== "object" || !endpoint.input[last.field]?.fallback) break;
    named.set(name, last.field);
    segments.splice(-2);
  }
  return inPath === fields.length ? [{ endpoint, segments, named }] : [];
};

/** `/data/list/` -> `["data", "list"]`, without escapes. */
export const segmentsOf = (path: string): string[] =>
  path
    .split("/")
    .filter((segment) => segment !== "")
    .map(unescaped);

type Texts = Record<string, string>;

/** The texts in a path by our fields' names; `undefined` if the path does not match. */
export const textsIn = ({ segments, named }: LegacyPattern, path: readonly string[]): Texts | undefined => {
  const pairs = path.slice(segments.length);
  if (path.length < segments.length || pairs.length % 2 === 1) return undefined;
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

/**
 * `/study/list` is not the study `list`: a word in a path of legacy is not a name at the same place of another path.
 */
const isVerb = (all: readonly LegacyPattern[], { segments }: LegacyPattern, path: readonly string[]): boolean =>
  segments.some((word, i) => typeof word !== "string" && all.some((other) => other.segments[i] === path[i]));

/**
 * The endpoints whose requests to legacy have a path of these segments (without escapes), each with the path's texts.
 */
export const readLegacyPath = (
  patterns: readonly LegacyPattern[],
  path: readonly string[],
): { pattern: LegacyPattern; texts: Texts }[] =>
  patterns.flatMap((pattern) => {
    const texts = textsIn(pattern, path);
    return texts === undefined || isVerb(patterns, pattern, path) ? [] : [{ pattern, texts }];
  });
