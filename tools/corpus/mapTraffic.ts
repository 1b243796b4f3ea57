import {
  type Endpoint,
  isReadMethod,
  keysInForm,
  legacyPattern,
  pathOf,
  queryOf,
  unescaped,
} from "../../src/catalogue/index.ts";
import { isBelow, originForm } from "../../src/gateway/index.ts";
import type { CorpusRequest, SkipReason } from "./corpusRequest.ts";
import { mapLegacyPath } from "./mapLegacyPath.ts";
import { mapModernPath, type Routed, routeTable } from "./mapModernPath.ts";
import type { LoggedRequest } from "./trafficLine.ts";

/** The request to the new interface, or the reason why it is skipped. */
type MappedTraffic = { request: CorpusRequest } | { skipped: SkipReason };

/** Maps a request of either interface to the same request of the new interface, without its key. */
export type MapTraffic = (logged: LoggedRequest) => MappedTraffic;

/** The most characters of a target, which servers accept, and of a body, of which a sample holds many. */
const MAX_TARGET = 16_384;
const MAX_BODY = 65_536;

/** Makes the function that maps traffic of these endpoints, below the prefixes and below legacy's path. */
export const trafficMapper = (
  endpoints: Record<string, Endpoint>,
  { prefixes = ["/v1"], legacyPath = "/api/v1" }: { prefixes?: readonly string[]; legacyPath?: string } = {},
): MapTraffic => {
  const named = Object.entries(endpoints).map(([name, endpoint]) => ({ ...endpoint, name }));
  const routed = routeTable(named);
  const patterns = named.flatMap(legacyPattern);
  const withoutSlash = (path: string) => path.replace(/\/+$/, "");
  // The longest prefix first.
  const ownBases = prefixes.map(withoutSlash).toSorted((a, b) => b.length - a.length);
  const legacyBases = ["json", "xml"].map((format) => `${withoutSlash(legacyPath)}/${format}`);

  const mapPath = (method: string, path: string, body: string | undefined): MappedTraffic => {
    const ofLegacy = pathBelow(legacyBases, path);
    const own = ofLegacy === undefined ? pathBelow(ownBases, path) : undefined;
    const route = own === undefined ? undefined : routed(own);
    if (ofLegacy === undefined && route === undefined) return { skipped: "not an endpoint" };
    if (["PUT", "PATCH", "DELETE"].includes(method)) return { skipped: "a write" };
    const isRead = isReadMethod(method);
    if (!isRead && method !== "POST") return { skipped: "not an endpoint" };
    if (ofLegacy !== undefined) return isRead ? mapLegacyPath(patterns, ofLegacy) : { skipped: "a POST to legacy" };
    return mapModernPath(route as Routed, isRead ? "GET" : "POST", own as string, body);
  };

  return ({ url, method, body, keys, status }) => {
    if (url.length > MAX_TARGET || (body?.length ?? 0) > MAX_BODY) return { skipped: "too long" };
    const target = originForm(url);
    const path = sendable(pathOf(target));
    if (path === undefined || !path.startsWith("/") || body?.isWellFormed() === false)
      return { skipped: "not understood" };

    const mapped = mapPath(method.toUpperCase(), path, body);
    if ("skipped" in mapped) return mapped;
    const { request } = mapped;
    const sentKeys = [...keys, ...keysInForm(queryOf(target))];
    if (holdsKey(request.path, sentKeys) || holdsKey(JSON.stringify(request.body ?? null), sentKeys))
      return { skipped: "a key where none belongs" };
    return { request: { ...request, keyed: sentKeys.length > 0, ...(status === undefined ? {} : { status }) } };
  };
};

/** The rest of a path behind the first of these bases that it lies below. */
const pathBelow = (bases: readonly string[], path: string): string | undefined => {
  const base = bases.find((prefix) => isBelow(path, prefix));
  return base === undefined ? undefined : path.slice(base.length);
};

/** The path, with all but ASCII escaped; `undefined` if it has a blank, a control character or a lone surrogate. */
const sendable = (path: string): string | undefined => {
  if (/^[\u0021-\u007e]*$/.test(path)) return path;
  // oxlint-disable-next-line no-control-regex -- the search is for control characters
  if (!path.isWellFormed() || /[\u0000-\u0020\u007f]/.test(path)) return undefined;
  return path.replaceAll(/[^\u0021-\u007e]+/g, encodeURIComponent);
};

/** A key of the kind that legacy makes, or the name of the field for it. */
const keyLike = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])|api_?key/i;

/**
 * The shortest key that is searched for: a shorter key occurs in other texts by chance, such as `1` in `/datasets/61`.
 */
const MIN_KEY = 6;

/**
 * True if a text may hold a key, however it is escaped, also in doubt: a lost request does less harm than a stored key.
 */
const holdsKey = (text: string, known: readonly string[]): boolean => {
  const keys = known
    .flatMap((key) => key.toLowerCase().split(/[\s,]+/))
    .filter((key) => key.length >= MIN_KEY && key !== "bearer");
  const once = unescaped(text);
  return [text, once, unescaped(once)].some(
    (variant) => keyLike.test(variant) || keys.some((key) => variant.toLowerCase().includes(key)),
  );
};
