import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { isKey } from "../../catalogue/endpoint/credential.ts";
import { pathOf } from "../../catalogue/endpoint/target.ts";
import { legacyTargets } from "../../catalogue/legacy/legacyTarget.ts";
import { legacyPattern, readLegacyPath } from "../../catalogue/legacy/readLegacyPath.ts";
import { clientAddress, schemeOf } from "../../gateway/upstream/forwarding.ts";
import { type CacheKey, cacheKeyOf } from "../../gateway/cache/cacheRequest.ts";
import type { Core } from "../../gateway/answer/feature.ts";
import type { PreparedEndpoint } from "../../gateway/answer/prepared.ts";
import type { LegacyCacheSettings } from "./settings.ts";

/** A read of legacy's own interface that the cache may answer. */
export type OldRead = {
  endpoint: PreparedEndpoint;
  /** The endpoint's input, as far as the path's texts are valid; other texts are there as they are. */
  input: Record<string, unknown>;
  form: "json" | "xml";
  /** The path as the gateway asks for it: below `LEGACY_PATH`, nothing unescaped. */
  path: string;
  scheme: string;
  client: string;
  key: string | undefined;
  cacheKey: CacheKey;
};

/** What a path says by itself. */
type ReadPath = Omit<OldRead, "client" | "key">;

/** Paths whose reading is remembered; a longer one is read each time. */
const MAX_READS = 5000;
const MAX_PATH = 1024;

/** A path alone, or with a key as its only query. */
const plainTarget = /^[^?%]*(?:\?api_key=([A-Za-z0-9]+))?$/;

/** These change what legacy answers, or to whom. */
const personalHeaders = ["authorization", "x-api-key", "cookie", "range", "transfer-encoding"];

/** Reads requests of old clients; `undefined`: the request has to pass. */
export const oldReads = (
  { catalogue, endpoints, identity, trusted }: Pick<Core, "catalogue" | "endpoints" | "identity" | "trusted">,
  { CACHE_LEGACY: names, LEGACY_PATH }: LegacyCacheSettings,
): ((req: IncomingMessage, target: string) => OldRead | undefined) => {
  const readTarget = legacyTargets(LEGACY_PATH, catalogue.legacyPaths);
  const patterns = endpoints.flatMap((endpoint) => legacyPattern(endpoint));
  const cached = new Map(
    endpoints
      .filter(({ name, cacheKey }) => cacheKey !== undefined && (names.includes("all") || names.includes(name)))
      .map((endpoint) => [endpoint.name, endpoint]),
  );
  const reads = new LRUCache<string, ReadPath>({ max: MAX_READS });
  const readPath = (path: string, scheme: string): ReadPath | undefined => {
    const legacy = readTarget(path);
    if (legacy === undefined) return undefined;
    const [first, ...rest] = legacy.segments;
    const hasForm = first === "json" || first === "xml";
    const segments = hasForm ? rest : legacy.segments;
    const [found] = readLegacyPath(patterns, segments);
    const endpoint = found && cached.get(found.pattern.endpoint.name);
    const lifetimes = endpoint?.cacheKey?.({});
    if (found === undefined || endpoint === undefined || lifetimes === undefined) return undefined;
    const form = first === "json" ? "json" : "xml";
    const name = `legacy ${endpoint.name}`;
    return {
      endpoint,
      input: inputOf(endpoint, found.texts),
      form,
      path: legacy.path,
      scheme,
      cacheKey: { ...lifetimes, key: cacheKeyOf(name, identity, { form, scheme, segments }), endpoint: name },
    };
  };
  return (req, target) => {
    const { method, headers, socket } = req;
    const [plain, key] = plainTarget.exec(target) ?? [];
    if (method !== "GET" || plain === undefined || (key !== undefined && !isKey(key))) return undefined;
    if (personalHeaders.some((name) => headers[name] !== undefined)) return undefined;
    if ((headers["content-length"] ?? "0") !== "0" || /\/\.\.?(?:\/|$)/.test(pathOf(target))) return undefined;

    // Legacy is told the scheme, and may write addresses by it.
    const encrypted = "encrypted" in socket;
    const scheme = schemeOf({ remoteAddress: socket.remoteAddress, encrypted, incoming: headers, trusted });
    if (scheme !== "http" && scheme !== "https") return undefined;
    const path = pathOf(target);
    const known = `${scheme} ${path}`;
    let read = reads.get(known);
    if (read === undefined) {
      read = readPath(path, scheme);
      if (read === undefined) return undefined;
      if (known.length <= MAX_PATH) reads.set(known, read);
    }
    return {
      ...read,
      client: clientAddress(socket.remoteAddress, headers["x-forwarded-for"]?.toString(), trusted),
      key,
    };
  };
};

/** Legacy takes some texts that the new interface refuses, such as an offset without a limit. */
const inputOf = (endpoint: PreparedEndpoint, texts: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(endpoint.input).map(([name, field]) => {
      const text = texts[name];
      if (text === undefined) return [name, field.fallback?.value];
      const reading = field.fromText(text);
      return [name, reading.ok ? reading.value : text];
    }),
  );
