import type { IncomingMessage, ServerResponse } from "node:http";
import { writeLegacyError } from "../../catalogue/index.ts";
import { answerResultOf, exchangeOf, type ReadCounts } from "../../operation/index.ts";
import type { Dialect } from "../answer/dialect.ts";
import type { Core } from "../answer/core.ts";
import { replyWith } from "../cache/reply.ts";
import { dividesCallers, type Served, staleAnswer } from "../cache/served.ts";
import type { FoundEntry } from "../cache/tieredEntries.ts";
import { legacyCorsList } from "../http/cors.ts";
import { sendWhole } from "../http/httpServer.ts";
import { sendReply, unstoredHeaders } from "../http/ownErrors.ts";
import type { CachedReads } from "./cachedReads.ts";
import { legacysDecision } from "./movedRead.ts";
import type { MovedReads } from "./movedReads.ts";
import type { OldRead } from "./oldRead.ts";
import type { PathRead } from "./pathRead.ts";

/** The sender of answers to reads of old clients. */
export type Replies = ReturnType<typeof openReplies>;

const wrongKey = writeLegacyError("xml", { code: "103", message: "Authentication failed" });
/** Legacy's answer to a key that it does not know. */
const wrongKeyReply = {
  status: 412,
  headers: [...unstoredHeaders(wrongKey.type, wrongKey.body.length), ...legacyCorsList],
  body: Buffer.from(wrongKey.body),
};

/**
 * A stored public answer of legacy that stands in place of none. A resource that the public cannot find may be the
 * caller's own; a list's "no results" is an answer like its rows.
 */
const storedOf = (found: FoundEntry | undefined, { isList }: OldRead): Served | undefined => {
  if (found === undefined || found.freshness === "not" || (found.entry.status !== 200 && !isList)) return undefined;
  return staleAnswer(found.entry);
};

/** Sends answers to reads of old clients, and counts them. `moved`: those that another backend may answer. */
export const openReplies = (
  { keys }: Pick<Core, "keys">,
  {
    cached,
    counts,
    dialect,
    moved,
  }: { cached: CachedReads; counts: ReadCounts; dialect: Dialect<PathRead>; moved: MovedReads | undefined },
) => {
  const send = (req: IncomingMessage, res: ServerResponse, read: OldRead, served: Served): void => {
    const { status } = served.answer;
    const exchange = exchangeOf(res);
    const isNotLegacys = served.entry === undefined && !cached.isOfLegacy(served.answer);
    const result = isNotLegacys ? "error" : answerResultOf(status, served.how);
    exchange.cache = result;
    exchange.hasFailed = isNotLegacys;
    // A made-up key in a form does not count as a caller.
    if (read.posted !== undefined && exchange.caller && keys.wasAccepted(read.owner)) exchange.caller.id = read.owner;
    const { "accept-encoding": acceptEncoding, "if-none-match": ifNoneMatch } = req.headers;
    const keyed = read.who !== "nobody" || (read.side !== undefined && dividesCallers(read.side.decision));
    const decision = served.decision ?? (read.side && legacysDecision(read, read.side));
    if (decision) {
      Object.assign(exchange, { stage: decision.stage, backend: decision.backend });
      moved?.count(decision);
    }
    const request = { method: "GET", acceptEncoding, ifNoneMatch, keyed, cors: dialect.cors(req, exchange) };
    const reply = replyWith({ ...served, decision }, request, performance.now(), dialect.writeHeaders);
    const isSent = sendWhole(res, reply);
    counts.count(
      read.cacheKey.endpoint,
      isSent ? result : "error",
      performance.now() - exchange.started,
      decision?.backend,
    );
  };

  /** Sends legacy's refusal of this key again, while legacy itself gives no answer. */
  const sendRefusal = (res: ServerResponse, { cacheKey }: OldRead): true => {
    if (res.destroyed || res.headersSent) return true;
    sendReply(res, { ...wrongKeyReply, headers: [...wrongKeyReply.headers] });
    counts.count(cacheKey.endpoint, "error");
    return true;
  };

  /**
   * Sends a stored public answer instead of an answer that cannot be used, unless an answer was sent already: legacy's
   * or, where the read has moved, the other backend's. False: there is none to send.
   */
  const sendStored = async (req: IncomingMessage, res: ServerResponse, read: OldRead): Promise<boolean> => {
    const stored = storedOf(await cached.findStored(read), read) ?? (await moved?.findStored(req, res, read));
    if (res.headersSent) return true;
    if (stored === undefined || res.destroyed) return false;
    send(req, res, read, stored);
    return true;
  };

  return {
    send,
    /** Counts a read that was proxied to legacy. */
    countPassed: ({ cacheKey }: OldRead): void => counts.countPassed(cacheKey.endpoint),
    sendRefusal,
    sendStored,
    /** Answers a read to which legacy gives no answer: by the refusal of a refused key, else by the stored answer. */
    sendInPlace: async (req: IncomingMessage, res: ServerResponse, read: OldRead): Promise<boolean> =>
      keys.wasRefused(read.owner) ? sendRefusal(res, read) : sendStored(req, res, read),
  };
};
