import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import {
  isKey,
  legacyPattern,
  type OpaqueRead,
  pathOf,
  readLegacyPath,
  withoutFormat,
} from "../../src/catalogue/index.ts";
import {
  type CacheKey,
  cacheKeyOf,
  type Core,
  isListing,
  legacyName,
  lifetimesBy,
  type PreparedEndpoint,
  schemeOf,
} from "../../src/gateway/index.ts";
import type { HttpExchange } from "../../src/operation/index.ts";
import type { LegacyCacheSettings } from "./settings.ts";

/** An endpoint judges the answers, with its input. */
export type ByEndpoint = { endpoint: PreparedEndpoint; input: Record<string, unknown> };
/** No endpoint has the read: its answers are judged by their bytes, and belong to these groups. */
export type ByBytes = { groups: (isFound: boolean) => readonly string[] };

/** The scheme of a client's request. */
type Scheme = "http" | "https";

/** What a path of legacy's own interface asks for. */
export type PathRead = {
  /** Of its endpoint, or of its row of `opaqueReads`. */
  name: string;
  judging: ByEndpoint | ByBytes;
  form: "json" | "xml";
  /** The path as the gateway asks for it: below `LEGACY_PATH`, nothing unescaped. */
  path: string;
  /** By the scheme that legacy is told: it may write addresses by it. */
  cacheKeys: Readonly<Record<Scheme, CacheKey>>;
  /** It asks for rows, of which there may be none. */
  isList: boolean;
};

/** What a path's answers are, and how they may be stored. */
type KnownRead = Pick<PathRead, "name" | "judging" | "isList"> & Pick<CacheKey, "lifetimesOf" | "personal">;

/**
 * Who asks, over which scheme. `isSomebody`: legacy may show it more, by a key or by a session. Any cookie is a
 * session, and counts as a key that legacy has accepted. `isBrowser`: a browser sent the cookie, whose user may have
 * changed on the website what is read.
 */
type ReadSender = { scheme: Scheme; isSomebody: boolean; key?: string; isBrowser?: boolean };

/** A read of legacy's own interface that the cache may answer. */
export type OldRead = PathRead & ReadSender & { cacheKey: CacheKey };

/** Reads requests of old clients. */
export type OldReads = {
  /** Who asks; `undefined`: the request has to pass, whatever its path. */
  asking: (req: IncomingMessage) => ReadSender | undefined;
  /** What a path asks for; `undefined`: a request for it has to pass. */
  readPath: (path: string, exchange: HttpExchange) => PathRead | undefined;
};

/** Escapes and steps upwards: legacy reads them in ways of its own. */
const notPlain = /%|\/\.\.?(?:\/|$)/;

/** Opens the reading of requests of old clients. */
export const openOldReads = (
  { catalogue, endpoints, identity, trusted }: Pick<Core, "catalogue" | "endpoints" | "identity" | "trusted">,
  { CACHE_LEGACY: names }: Pick<LegacyCacheSettings, "CACHE_LEGACY">,
): OldReads => {
  const patterns = endpoints.flatMap((endpoint) => legacyPattern(endpoint));
  const cached = new Map(
    endpoints
      .filter(({ name, cacheKey }) => cacheKey !== undefined && (names.includes("all") || names.includes(name)))
      .map((endpoint) => [endpoint.name, endpoint]),
  );
  const opaqueReads = (names.includes("all") ? catalogue.opaqueReads : []).map((read) => ({
    ...read,
    lifetimesOf: lifetimesBy(read.lifetimes),
  }));
  /** What is known of a path below the interface's, without the form. */
  const findRead = (segments: readonly string[]): KnownRead | undefined => {
    const [found] = readLegacyPath(patterns, segments);
    if (found === undefined) return findOpaqueRead(opaqueReads, `/${segments.join("/")}`);
    const endpoint = cached.get(found.pattern.endpoint.name);
    const input = endpoint && inputOf(endpoint, found.texts);
    if (endpoint?.cacheKey === undefined || input === undefined) return undefined;
    return {
      name: endpoint.name,
      judging: { endpoint, input },
      isList: isListing(endpoint),
      ...endpoint.cacheKey(input),
    };
  };
  const readPath: OldReads["readPath"] = (path, { target }) => {
    const legacy = notPlain.test(path) ? undefined : target;
    if (legacy === undefined) return undefined;
    const segments = withoutFormat(legacy);
    const found = findRead(segments);
    if (found === undefined) return undefined;
    const { name, judging, isList, lifetimesOf, personal } = found;
    const form = legacy.segments[0] === "json" ? "json" : "xml";
    const endpoint = legacyName(name);
    const cacheKey = (scheme: Scheme): CacheKey => {
      const key = cacheKeyOf(endpoint, identity, { form, scheme, segments });
      return { key, endpoint, lifetimesOf, personal };
    };
    const cacheKeys = { http: cacheKey("http"), https: cacheKey("https") };
    return { name, judging, isList, form, path: legacy.path, cacheKeys };
  };
  return {
    readPath,
    asking({ method, headers, socket, url = "/" }) {
      if (method !== "GET" || isPersonal(headers)) return undefined;
      const encrypted = "encrypted" in socket;
      const scheme = schemeOf({ remoteAddress: socket.remoteAddress, encrypted, incoming: headers, trusted });
      if (scheme !== "http" && scheme !== "https") return undefined;
      return whoAsks(url.slice(pathOf(url).length), headers, scheme);
    },
  };
};

/** A key as the whole query; legacy takes an empty one of a GET for none. */
const keyAlone = /^\?api_key=([A-Za-z0-9]*)$/;

/** Who asks with this query; `undefined`: it is no key. */
const whoAsks = (query: string, headers: IncomingHttpHeaders, scheme: Scheme): ReadSender | undefined => {
  const { cookie = "", "sec-fetch-site": site, origin, referer } = headers;
  const key = query === "" ? "" : keyAlone.exec(query)?.[1];
  if (key === "" && cookie === "") return { scheme, isSomebody: false };
  if (key === undefined || (key !== "" && !isKey(key))) return undefined;
  const isBrowser = cookie !== "" && (site ?? origin ?? referer) !== undefined;
  return { scheme, isSomebody: true, isBrowser, ...(key !== "" && { key }) };
};

/** Whether other headers change what legacy answers, or to whom; or there is a body. */
const isPersonal = (headers: IncomingHttpHeaders): boolean =>
  headers.authorization !== undefined ||
  headers["x-api-key"] !== undefined ||
  headers.range !== undefined ||
  headers["transfer-encoding"] !== undefined ||
  (headers["content-length"] ?? "0") !== "0";

const findOpaqueRead = (
  opaqueReads: readonly (OpaqueRead & Pick<CacheKey, "lifetimesOf">)[],
  path: string,
): KnownRead | undefined => {
  for (const { name, path: pattern, lifetimesOf, groups, isList = false } of opaqueReads) {
    const [found, ...texts] = pattern.exec(path) ?? [];
    if (found === undefined) continue;
    const judging = { groups: (isFound: boolean) => groups(isFound, ...texts) };
    return { name, judging, isList, lifetimesOf, personal: false };
  }
  return undefined;
};

/**
 * The endpoint's input, without its defaults: legacy has others. `undefined` where the new interface refuses one of the
 * texts: what legacy reads in it is not known.
 */
const inputOf = (
  endpoint: PreparedEndpoint,
  texts: Readonly<Record<string, string>>,
): Record<string, unknown> | undefined => {
  const input: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(endpoint.input)) {
    const text = texts[name];
    const reading = text === undefined ? undefined : field.fromText(text);
    if (reading?.ok === false) return undefined;
    input[name] = reading?.value;
  }
  return input;
};
