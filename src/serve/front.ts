import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import type { CacheKey } from "../cache/cacheRequest.ts";
import { readDirectives } from "../cache/directives.ts";
import { sendWhole } from "../http/httpServer.ts";
import { HIT, replyWith } from "../cache/reply.ts";
import { corsList } from "../http/cors.ts";
import { readCredential } from "../http/credential.ts";
import type { Services } from "./services.ts";
import { queryOf } from "../http/requestTarget.ts";

/** What stands before the router: it answers at once from memory, and knows a path by the question the router has read out of it. */
export type Front = {
  /** Answers a request at once; false where that takes more than looking. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
  /** This path asks this. */
  learn(path: string, question: CacheKey): void;
};

/** Bytes of one learned path beside its text: two places in maps and a question. */
const OVERHEAD = 600;

/** `bytes`: all that may be remembered of paths. */
export const openFront = (
  { cache, keys, meter, migration, privateRows }: Services,
  corsOrigins: readonly string[],
  bytes: number,
): Front => {
  const questions = new LRUCache<string, CacheKey>({
    maxSize: Math.max(1, Math.floor(bytes)),
    sizeCalculation: (_, path) => OVERHEAD + 2 * path.length,
  });
  return {
    learn: (path, question) => void questions.set(path, question),
    answer(request, response) {
      const { method = "", url = "", headers } = request;
      if (method !== "GET" && method !== "HEAD") return false;
      const end = url.indexOf("?");
      const question = questions.get(end === -1 ? url : url.slice(0, end));
      if (question === undefined || headers.via !== undefined) return false;
      // Where there is more than one side, the router decides.
      if (!migration.isUndivided(question.endpoint) || headers["gateway-backend"] !== undefined) return false;

      let owner: string | undefined;
      if (end !== -1 || headers.authorization !== undefined || headers["x-api-key"] !== undefined) {
        const { key, refused } = readCredential(queryOf(url), (name) =>
          // All of them: `headers` keeps only the first of some.
          request.headersDistinct[name]?.join(", "),
        );
        if (refused) return false;
        if (key !== undefined) {
          // Whether there is more to show them takes asking.
          if (question.endpoint === privateRows?.knowledge.endpoint) return false;
          owner = keys.ownerOf(key);
          if (!keys.isProven(owner)) return false;
        }
      }
      const now = Date.now();
      const wanted = readDirectives(headers["cache-control"], headers.pragma);
      const entry = cache.ready({ question, owner, wanted }, now);
      if (entry === undefined) return false;
      const reply = replyWith(
        { entry, how: HIT },
        {
          method,
          acceptEncoding: headers["accept-encoding"],
          ifNoneMatch: headers["if-none-match"],
          keyed: owner !== undefined,
          cors: corsList(corsOrigins, headers.origin),
        },
        now,
      );
      if (!sendWhole(response, reply)) return true;
      migration.track(question.endpoint).answered(true);
      meter.kept(question.endpoint, reply.status, reply.body?.length ?? 0);
      return true;
    },
  };
};
