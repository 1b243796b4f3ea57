import type { Endpoint } from "../../endpoint/endpoint.ts";
import { unescaped } from "../../endpoint/input.ts";
import { isBelow, pathOf, queryOf } from "../../http/paths.ts";
import { originForm } from "../../http/requestTarget.ts";
import { keysInForm } from "../../legacy/legacyKey.ts";
import type { CorpusRequest, SkipReason } from "./corpusRequest.ts";
import { type LegacyPattern, legacyPatterns, mapLegacyPath } from "./mapLegacyPath.ts";
import { mapModernPath, type Routed, routeTable } from "./mapModernPath.ts";
import type { Traffic } from "./trafficLine.ts";

/** What is known of both interfaces' paths. */
export type TrafficMapper = {
  /** Where the new interface is served, the longest first, none with a slash at its end. */
  prefixes: readonly string[];
  /** Where the legacy one is: `/api/v1/json`. */
  legacy: readonly string[];
  routed: (path: string) => Routed | undefined;
  patterns: readonly LegacyPattern[];
};

export const trafficMapper = (
  endpoints: Record<string, Endpoint>,
  { prefixes = ["/v1"], legacyPath = "/api/v1" }: { prefixes?: readonly string[]; legacyPath?: string } = {},
): TrafficMapper => {
  const named = Object.entries(endpoints).map(([name, endpoint]) => ({ ...endpoint, name }));
  return {
    prefixes: prefixes.map((prefix) => prefix.replace(/\/+$/, "")).toSorted((a, b) => b.length - a.length),
    legacy: ["json", "xml"].map((form) => `${legacyPath.replace(/\/+$/, "")}/${form}`),
    routed: routeTable(named),
    patterns: named.flatMap(legacyPatterns),
  };
};

export type MappedTraffic = { ask: CorpusRequest } | { skipped: SkipReason };

/** Characters of a target, which no server takes longer, and of a body, of which a sample holds many. */
const MAX_TARGET = 16_384;
const MAX_BODY = 65_536;

/** What asks the new interface for what a request asked, of the new interface or the legacy one; without its key. */
export const mapTraffic = (mapper: TrafficMapper, traffic: Traffic): MappedTraffic => {
  const { url, body, status, answered } = traffic;
  if (url.length > MAX_TARGET || (body?.length ?? 0) > MAX_BODY) return { skipped: "too long" };
  const target = originForm(url);
  const path = sendable(pathOf(target));
  if (path === undefined || !path.startsWith("/") || body?.isWellFormed() === false)
    return { skipped: "not understood" };

  const mapped = mapPath(mapper, traffic.method, path, body);
  if ("skipped" in mapped) return mapped;
  const { ask } = mapped;
  const ofForm = body === undefined || ask.body ? [] : keysInForm(body);
  const keys = [...traffic.keys, ...keysInForm(queryOf(target)), ...ofForm];
  if ([ask.path, JSON.stringify(ask.body ?? null)].some((text) => holdsKey(text, keys)))
    return { skipped: "a key where none belongs" };
  return {
    ask: {
      ...ask,
      keyed: keys.length > 0,
      ...(status === undefined ? {} : { status }),
      shape: answered === undefined ? ask.shape : `${ask.shape} size=1e${String(answered).length - 1}`,
    },
  };
};

const mapPath = (
  { prefixes, legacy, patterns, routed }: TrafficMapper,
  asked: string,
  path: string,
  body: string | undefined,
): MappedTraffic => {
  const upper = asked.toUpperCase();
  const method = upper === "HEAD" ? "GET" : upper;
  const form = legacy.find((one) => isBelow(path, one));
  const prefix = prefixes.find((one) => isBelow(path, one));
  const found = form === undefined && prefix !== undefined ? routed(path.slice(prefix.length)) : undefined;
  if (form === undefined && found === undefined) return { skipped: "not an endpoint" };
  if (["PUT", "PATCH", "DELETE"].includes(method)) return { skipped: "a write" };
  if (method !== "GET" && method !== "POST") return { skipped: "not an endpoint" };
  return form !== undefined
    ? mapLegacyPath(patterns, method, path.slice(form.length), body)
    : found === undefined || prefix === undefined
      ? { skipped: "not an endpoint" }
      : mapModernPath(found, method, path.slice(prefix.length), body);
};

/** A path as it can be sent: other characters than ASCII's escaped; `undefined` where it holds a blank or what is no text. */
const sendable = (path: string): string | undefined => {
  if (/^[\u0021-\u007e]*$/.test(path)) return path;
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!path.isWellFormed() || /[\u0000-\u0020\u007f]/.test(path)) return undefined;
  return path.replaceAll(/[^\u0021-\u007e]+/g, encodeURIComponent);
};

/** A key as legacy makes them, or the name one is given by. */
const keyLike = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])|api_?key/i;

/** Shorter ones are found in anything: `1` is in `/datasets/61`. */
const MIN_KEY = 6;

/** Whether a text that is kept may hold a key, whatever escapes it is written in: better a request too few. */
const holdsKey = (text: string, known: readonly string[]): boolean => {
  const telling = known
    .flatMap((key) => key.toLowerCase().split(/[\s,]+/))
    .filter((key) => key.length >= MIN_KEY && key !== "bearer");
  const isFound = (form: string) => {
    const lower = form.toLowerCase();
    return keyLike.test(form) || telling.some((key) => lower.includes(key));
  };
  if (isFound(text)) return true;
  if (!text.includes("%")) return false;
  const once = unescaped(text);
  return isFound(once) || isFound(unescaped(once));
};
