import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { isKey } from "../../catalogue/endpoint/credential.ts";
import type { OpaqueRead } from "../../catalogue/endpoint/legacyInterface.ts";
import { pathOf } from "../../catalogue/endpoint/target.ts";
import { withoutFormat } from "../../catalogue/legacy/legacyTarget.ts";
import { legacyPattern, readLegacyPath } from "../../catalogue/legacy/readLegacyPath.ts";
import { lifetimesBy } from "../../gateway/cache/policy.ts";
import { schemeOf } from "../../gateway/upstream/forwarding.ts";
import { type CacheKey, cacheKeyOf, legacyName } from "../../gateway/cache/cacheRequest.ts";
import type { Core } from "../../gateway/answer/feature.ts";
import type { PreparedEndpoint } from "../../gateway/answer/prepared.ts";
import type { LegacyCacheSettings } from "./settings.ts";

/** An endpoint judges the answers, with its input. */
export type ByEndpoint = { endpoint: PreparedEndpoint; input: Record<string, unknown> };
/** No endpoint has the read: its answers are judged by their bytes, and belong to these groups. */
export type ByBytes = { groups: (isFound: boolean) => readonly string[] };

/** What a path of legacy's own interface asks for. */
type PathRead = {
  /** Of its endpoint, or of its row of `opaqueReads`. */
  name: string;
  judging: ByEndpoint | ByBytes;
  form: "json" | "xml";
  /** The path as the gateway asks for it: below `LEGACY_PATH`, nothing unescaped. */
  path: string;
  scheme: string;
  cacheKey: CacheKey;
};

/** What a path's answers are, and how they may be stored. */
type KnownRead = Pick<PathRead, "name" | "judging"> & Pick<CacheKey, "lifetimesOf" | "personal">;

/** A read of legacy's own interface that the cache may answer. */
export type OldRead = PathRead & { key?: string };

/** Reads requests of old clients; `undefined`: the request has to pass. */
type OldReads = {
  read: (req: IncomingMessage) => OldRead | undefined;
  /** The same for a path that was read before, by looking it up. */
  known: (req: IncomingMessage) => OldRead | undefined;
};

/** Paths whose reading is remembered; a longer one is read each time. */
const MAX_READS = 5000;
const MAX_PATH = 1024;

/** Escapes and steps upwards: legacy reads them in ways of its own. */
const notPlain = /%|\/\.\.?(?:\/|$)/;

/** Opens the reading of requests of old clients. */
export const openOldReads = (
  {
    catalogue,
    endpoints,
    identity,
    readTarget,
    trusted,
  }: Pick<Core, "catalogue" | "endpoints" | "identity" | "readTarget" | "trusted">,
  { CACHE_LEGACY: names }: Pick<LegacyCacheSettings, "CACHE_LEGACY">,
): OldReads => {
  const patterns = endpoints.flatMap((endpoint) => legacyPattern(endpoint));
  const cached = new Map(
    endpoints
      .filter(({ name, cacheKey }) => cacheKey !== undefined && (names.includes("all") || names.includes(name)))
      .map((endpoint) => [endpoint.name, endpoint]),
  );
  const reads = new LRUCache<string, PathRead>({ max: MAX_READS });
  const opaqueReads = names.includes("all") ? catalogue.opaqueReads : [];
  /** What is known of a path below the interface's, without the form. */
  const findRead = (segments: readonly string[]): KnownRead | undefined => {
    const [found] = readLegacyPath(patterns, segments);
    if (found === undefined) return findOpaqueRead(opaqueReads, `/${segments.join("/")}`);
    const endpoint = cached.get(found.pattern.endpoint.name);
    const input = endpoint && inputOf(endpoint, found.texts);
    if (endpoint?.cacheKey === undefined || input === undefined) return undefined;
    return { name: endpoint.name, judging: { endpoint, input }, ...endpoint.cacheKey(input) };
  };
  const readPath = (path: string, scheme: string): PathRead | undefined => {
    const legacy = notPlain.test(path) ? undefined : readTarget(path);
    if (legacy === undefined) return undefined;
    const segments = withoutFormat(legacy);
    const found = findRead(segments);
    if (found === undefined) return undefined;
    const { name, judging, lifetimesOf, personal } = found;
    const form = legacy.segments[0] === "json" ? "json" : "xml";
    const endpoint = legacyName(name);
    const key = cacheKeyOf(endpoint, identity, { form, scheme, segments });
    return { name, judging, form, path: legacy.path, scheme, cacheKey: { key, endpoint, lifetimesOf, personal } };
  };
  const learn = (place: string, path: string, scheme: string): PathRead | undefined => {
    const read = readPath(path, scheme);
    if (read !== undefined && place.length <= MAX_PATH) reads.set(place, read);
    return read;
  };

  const readBy =
    (find: (place: string, path: string, scheme: string) => PathRead | undefined) =>
    (req: IncomingMessage): OldRead | undefined => {
      const { method, headers, socket, url: target = "/" } = req;
      if (method !== "GET" || isPersonal(headers)) return undefined;
      const path = pathOf(target);
      const hasQuery = path.length !== target.length;
      const key = hasQuery ? keyAlone.exec(target.slice(path.length))?.[1] : undefined;
      if (hasQuery && (key === undefined || !isKey(key))) return undefined;
      // Legacy is told the scheme, and may write addresses by it.
      const encrypted = "encrypted" in socket;
      const scheme = schemeOf({ remoteAddress: socket.remoteAddress, encrypted, incoming: headers, trusted });
      if (scheme !== "http" && scheme !== "https") return undefined;
      const read = find(`${scheme} ${path}`, path, scheme);
      return read === undefined || key === undefined ? read : { ...read, key };
    };
  return {
    known: readBy((place) => reads.get(place)),
    read: readBy((...about) => reads.get(about[0]) ?? learn(...about)),
  };
};

/** A key as the whole query. */
const keyAlone = /^\?api_key=([A-Za-z0-9]+)$/;

/** Whether headers change what legacy answers, or to whom; or there is a body. */
const isPersonal = (headers: IncomingHttpHeaders): boolean =>
  headers.authorization !== undefined ||
  headers["x-api-key"] !== undefined ||
  headers.cookie !== undefined ||
  headers.range !== undefined ||
  headers["transfer-encoding"] !== undefined ||
  (headers["content-length"] ?? "0") !== "0";

const findOpaqueRead = (opaqueReads: readonly OpaqueRead[], path: string): KnownRead | undefined => {
  for (const { name, path: pattern, lifetimes, groups } of opaqueReads) {
    const [found, ...texts] = pattern.exec(path) ?? [];
    if (found === undefined) continue;
    const judging = { groups: (isFound: boolean) => groups(isFound, ...texts) };
    return { name, judging, lifetimesOf: lifetimesBy(lifetimes), personal: false };
  }
  return undefined;
};

/**
 * The endpoint's input, without its defaults: legacy has others. `undefined` where the new interface refuses one of the texts: what legacy reads
 * in it is not known.
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
