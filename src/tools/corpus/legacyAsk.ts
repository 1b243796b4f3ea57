import { givenInPath, readInput } from "../../endpoint/input.ts";
import type { JsonObject } from "../../rules/rule.ts";
import type { CorpusRequest } from "./ask.ts";
import { requestFor } from "./askOf.ts";
import { isKeyName } from "../../legacy/legacyKey.ts";
import { type LegacyPattern, segmentsOf } from "./legacyPatterns.ts";
import type { SkipReason } from "./skip.ts";

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
