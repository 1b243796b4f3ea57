import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { type CacheKey, readDirectives } from "../cache/cacheRequest.ts";
import { sendWhole } from "../http/httpServer.ts";
import { openKeptReplies } from "../cache/keptReplies.ts";
import { replyWith } from "../cache/reply.ts";
import { HIT } from "../cache/served.ts";
import { corsList } from "../http/cors.ts";
import { isLoop } from "../upstream/forwarding.ts";
import { exchangeOf } from "../../operation/telemetry/exchange.ts";
import type { Core } from "./feature.ts";
import { pathOf } from "../../catalogue/endpoint/target.ts";

/** Stands before the router: it answers from memory at once, and knows a path by the cache key that the router has made of it. */
export type HitPath = {
  /** Answers a request at once; false where that takes more than looking it up. */
  answer: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Remembers the cache key of a path. */
  learn: (path: string, cacheKey: CacheKey) => void;
};

/** Bytes of one learned path beside its text: two places in maps and a cache key. */
const OVERHEAD = 600;

/** `bytes`: all that may be remembered of paths. All features are open. */
export const openHitPath = (
  {
    cache,
    keys,
    meter,
    settings,
    features,
    errorFormats,
  }: Pick<Core, "cache" | "keys" | "meter" | "settings" | "features" | "errorFormats">,
  bytes: number,
): HitPath => {
  const kept = openKeptReplies();
  const conditions = features.flatMap(({ mayHitPathAnswer }) => mayHitPathAnswer ?? []);
  const cacheKeys = new LRUCache<string, CacheKey>({
    maxSize: Math.max(1, Math.floor(bytes)),
    sizeCalculation: (_, path) => OVERHEAD + 2 * path.length,
  });
  return {
    learn: (path, cacheKey) => void cacheKeys.set(path, cacheKey),
    answer(request, response) {
      const { method = "", url = "", headers } = request;
      if (method !== "GET" && method !== "HEAD") return false;
      const end = url.indexOf("?");
      const cacheKey = cacheKeys.get(end === -1 ? url : url.slice(0, end));
      if (cacheKey === undefined || isLoop(headers.via)) return false;

      let owner: string | undefined;
      // The router refuses parameters that mean nothing.
      if (end !== -1 && !/^\?api_key=[A-Za-z0-9]*$/.test(url.slice(end))) return false;
      const exchange = exchangeOf(response);
      if (end !== -1 || headers.authorization !== undefined || headers["x-api-key"] !== undefined) {
        const { key, refused } = exchange.caller?.credential ?? {};
        if (refused) return false;
        if (key !== undefined) {
          owner = keys.ownerOf(key);
          if (!keys.isProven(owner)) return false;
        }
      }
      const { endpoint } = cacheKey;
      for (const mayHitPathAnswer of conditions)
        if (!mayHitPathAnswer(endpoint, owner !== undefined, headers)) return false;
      const now = performance.now();
      const wanted = readDirectives(headers["cache-control"], headers.pragma);
      const found = cache.lookUp({ cacheKey, owner, wanted }, now);
      if (found?.freshness !== "fresh") return false;
      const { entry } = found;
      // The router writes errors in the other format.
      if (entry.status >= 400 && errorFormats(headers.accept, pathOf(url)) !== undefined) return false;
      const { "accept-encoding": acceptEncoding, "if-none-match": ifNoneMatch, origin } = headers;
      const keyed = owner !== undefined;
      const kind = `${method} ${keyed} ${acceptEncoding}\n${ifNoneMatch}\n${origin}`;
      const reply = kept(entry, kind, now, () => {
        const cors = corsList(settings.CORS_ORIGINS, origin);
        return replyWith({ answer: entry, entry, how: HIT }, { method, acceptEncoding, ifNoneMatch, keyed, cors }, now);
      });
      exchange.endpoint = endpoint;
      exchange.cache = "hit";
      exchange.owner = owner;
      if (!sendWhole(response, reply)) return true;
      meter.countHit(endpoint, reply.status, reply.body?.length ?? 0, performance.now() - exchange.started);
      return true;
    },
  };
};
