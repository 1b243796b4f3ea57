import { LRUCache } from "lru-cache";
import { type CacheKey, readDirectives } from "../cache/cacheRequest.ts";
import { sendWhole } from "../http/httpServer.ts";
import { openKeptReplies } from "../cache/keptReplies.ts";
import { decisionHeader, replyWith } from "../cache/reply.ts";
import { HIT } from "../cache/served.ts";
import { corsList } from "../http/cors.ts";
import { isLoop } from "../upstream/forwarding.ts";
import { keyAlone } from "../../catalogue/index.ts";
import { exchangeOf } from "../../operation/index.ts";
import type { Dialect, HitPath } from "./dialect.ts";
import type { Additions } from "./additions.ts";
import type { Core, WholeCore } from "./core.ts";

/** A path's dialect, and the knowledge of the path in it. */
type Known<Read = unknown> = { dialect: Dialect<Read>; read: Read };

/** `bytes`: the bound of all remembered paths. */
export const openHitPath = (
  { cache, errorFormats }: Pick<WholeCore, "cache" | "errorFormats">,
  { mayHit, mayHitOldRead }: Pick<Additions, "mayHit" | "mayHitOldRead">,
  bytes: number,
): HitPath => {
  const kept = openKeptReplies();
  const paths = new LRUCache<string, Known>({
    maxSize: Math.max(1, Math.floor(bytes)),
    sizeCalculation: ({ dialect }, path) => dialect.bytes + 2 * path.length,
  });
  return {
    learn: (path, dialect, read) => void paths.set(path, { dialect, read }),
    recall: <Read>(path: string, dialect: Dialect<Read>) => {
      const known = paths.get(path) as Known<Read> | undefined;
      return known?.dialect === dialect ? known.read : undefined;
    },
    answer(request, response, next) {
      const { method = "", url = "", headers } = request;
      if (method !== "GET" && method !== "HEAD") return next();
      const end = url.indexOf("?");
      const path = end === -1 ? url : url.slice(0, end);
      const known = paths.get(path);
      if (known === undefined || isLoop(headers.via)) return next();

      const { dialect } = known;
      const exchange = exchangeOf(response);
      const asked = dialect.ask(request, exchange, known.read);
      if (asked === undefined) return next();
      const { cacheKey, owner, keyed, form, decision } = asked;
      const { isOfLegacy } = dialect;
      if (isOfLegacy) {
        for (const mayAnswer of mayHitOldRead) if (!mayAnswer(exchange)) return next();
      } else for (const mayAnswer of mayHit) if (!mayAnswer(cacheKey.endpoint, keyed, headers)) return next();
      const now = performance.now();
      const wanted = readDirectives(headers["cache-control"], headers.pragma);
      const found = cache.lookUp({ cacheKey, owner: isOfLegacy ? undefined : owner, wanted }, now);
      if (found?.freshness !== "fresh") return next();
      const entry = form === undefined ? found.entry : found.entry.forms?.[form];
      if (entry === undefined) return next();
      // A resource that the public does not find may be a private one of the caller.
      if (keyed && entry.owner === undefined && entry.status !== 200) return next();
      // The router writes errors in the other format.
      if (entry.status >= 400 && errorFormats(headers.accept, path) !== undefined) return next();
      const { "accept-encoding": acceptEncoding, "if-none-match": ifNoneMatch, origin } = headers;
      // Headers of features differ by the path, of which one entry may have several.
      const side = decision === undefined ? "" : decisionHeader({ decision });
      const kind = `${path}\n${method} ${keyed} ${acceptEncoding}\n${ifNoneMatch}\n${origin}\n${side}`;
      const reply = kept(entry, kind, now, () => {
        const cors = dialect.cors(request, exchange);
        const replyRequest = { method, acceptEncoding, ifNoneMatch, keyed, cors };
        return replyWith({ answer: entry, entry, how: HIT, decision }, replyRequest, now, dialect.writeHeaders);
      });
      exchange.endpoint = isOfLegacy ? undefined : cacheKey.endpoint;
      exchange.isProxied = isOfLegacy;
      exchange.oldRead = isOfLegacy ? cacheKey.endpoint : undefined;
      exchange.cache = "hit";
      if (decision) Object.assign(exchange, { stage: decision.stage, backend: decision.backend });
      const isSent = sendWhole(response, reply);
      dialect.count(asked, isSent ? reply : undefined, performance.now() - exchange.started);
    },
  };
};

/** Reads of the new interface. A path is known by the cache key that the router has made of it. */
export const newInterface = ({
  keys,
  meter,
  settings,
}: Pick<Core, "keys" | "meter" | "settings">): Dialect<CacheKey> => ({
  isOfLegacy: false,
  bytes: 600,
  ask({ url = "", headers }, exchange, cacheKey) {
    const end = url.indexOf("?");
    // The router refuses parameters that mean nothing.
    if (end !== -1 && keyAlone(url.slice(end)) === undefined) return undefined;
    const mayHaveKey = end !== -1 || headers.authorization !== undefined || headers["x-api-key"] !== undefined;
    const caller = mayHaveKey ? exchange.caller : undefined;
    if (caller?.credential.refused) return undefined;
    const owner = caller?.id;
    if (owner === undefined) return { cacheKey, owner, keyed: false };
    return keys.isProven(owner) ? { cacheKey, owner, keyed: true } : undefined;
  },
  cors: ({ headers }) => corsList(settings.CORS_ORIGINS, headers.origin),
  count({ cacheKey }, reply, ms) {
    const { endpoint } = cacheKey;
    if (reply === undefined) meter.countAnswer(endpoint, { backend: "gateway", status: 503, how: {}, ms, bytes: 0 });
    else meter.countHit(endpoint, reply.status, reply.body?.length ?? 0, ms);
  },
});
