import {
  givenInPath,
  type JsonObject,
  type LegacyPattern,
  readInput,
  readLegacyPath,
  segmentsOf,
  textsIn,
} from "../../src/catalogue/index.ts";
import type { CorpusRequest, SkipReason } from "./corpusRequest.ts";
import { requestFor } from "./madeRequests.ts";

/**
 * The request to the new interface for which the gateway GETs exactly this path of legacy, which is below
 * `/api/v1/json`.
 */
export const mapLegacyPath = (
  patterns: readonly LegacyPattern[],
  path: string,
): { request: CorpusRequest } | { skipped: SkipReason } => {
  const matches = readLegacyPath(patterns, segmentsOf(path));
  for (const { pattern, texts } of matches) {
    const request = requestBack(pattern, texts);
    if (request) return { request };
  }
  return { skipped: matches.length > 0 ? "only for legacy" : "not an endpoint" };
};

/** The request with these texts; `undefined` if the gateway would send legacy a different request for it. */
const requestBack = (pattern: LegacyPattern, texts: Record<string, string>): CorpusRequest | undefined => {
  const { endpoint } = pattern;
  const reading = readInput(endpoint.input, givenInPath(texts), "path");
  if ("errors" in reading) return undefined;
  const request = endpoint.legacy(reading.input);
  // The gateway adds defaults, but it must leave all given fields unchanged.
  const again = "unsent" in request || request.method !== "GET" ? {} : textsIn(pattern, segmentsOf(request.path));
  if (!again || Object.entries(texts).some(([field, text]) => again[field] !== text)) return undefined;
  const input = Object.keys(texts).map((field) => [field, reading.input[field]] as const);
  return requestFor(endpoint.name, endpoint, Object.fromEntries(input) as JsonObject);
};
