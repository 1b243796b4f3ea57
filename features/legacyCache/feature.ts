import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { type Answer, pathOf, plainAnswer, writeLegacyError, xmlReader } from "../../src/catalogue/index.ts";
import {
  answerItself,
  answerTo,
  type CacheRequest,
  type Core,
  decodedBeginning,
  type Entry,
  type Feature,
  type Fetched,
  isFailure,
  isIll,
  isItsFault,
  maxEntryBytes,
  mediaType,
  type NotForCache,
  type OwnAnswer,
  ownCaller,
  type Pass,
  readDirectives,
  refusedIn,
  replyWith,
  reportIll,
  sendWhole,
  type Served,
  type Substitute,
  uncached,
  UpstreamFailure,
} from "../../src/gateway/index.ts";
import {
  answerResultOf,
  exchangeOf,
  type HttpExchange,
  monotonic,
  openHolding,
  withTimeout,
} from "../../src/operation/index.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import { legacyDialect } from "./dialect.ts";
import { legacyCacheEvents } from "./events.ts";
import { judge } from "./judge.ts";
import { type OldRead, openOldReads } from "./oldRead.ts";
import { openReadCounts, PASSED } from "./readCounts.ts";
import type { LegacyCacheSettings } from "./settings.ts";

type CachingCore = Pick<
  Core,
  | "cache"
  | "catalogue"
  | "client"
  | "dependencies"
  | "endpoints"
  | "errors"
  | "features"
  | "fetchPath"
  | "guard"
  | "hitPath"
  | "identity"
  | "judgeEmpty"
  | "keys"
  | "load"
  | "memory"
  | "meter"
  | "observer"
  | "outage"
  | "reader"
  | "totalTimeout"
  | "trusted"
  | "writeError"
  | "writeOwnError"
>;

/** Paths that are remembered because they pass at once, and for how many milliseconds. */
const MAX_PASSING = 1000;
const TOO_LARGE = { ttl: 3_600_000 };
const TREATED_OTHERWISE = { ttl: 60_000 };

/**
 * Paths whose answer for everybody was no 200: where more may be shown they pass at once, else legacy
 * is asked twice each time.
 */
const MORE_SHOWN = { max: MAX_PASSING, ttl: 60_000, perf: monotonic };

/**
 * Milliseconds that a request waits until legacy has verified its key: as long as legacy fails, any key
 * gets what everybody gets.
 */
const VERIFY_MS = 2000;

/** Milliseconds after which everybody's list is fetched again where lists pass, and the load from which it is not. */
const PREFETCH_AFTER = 3_600_000;
const PREFETCH_LOAD = 0.5;

/** Legacy's code for a key that it does not know. */
const WRONG_KEY: ReadonlySet<number> = new Set([103]);
const WRONG_KEY_ANSWER: OwnAnswer = {
  status: 412,
  headers: [],
  ...writeLegacyError("xml", { code: "103", message: "Authentication failed" }),
};

/**
 * Answers reads of legacy's own interface from the cache: its status, type and bytes as they are. An answer is
 * judged as one of the new interface is, and stored for the same time, in the same groups. What cannot be
 * answered so passes to legacy.
 */
const open = (core: CachingCore, settings: LegacyCacheSettings): Feature<ConsolePart> => {
  const { cache, keys, memory, hitPath } = core;
  const reads = openOldReads(core, settings);
  const counts = openReadCounts(core);
  const dialect = legacyDialect(core, reads, counts);
  const passing = new LRUCache<string, true>({ max: MAX_PASSING, perf: monotonic });
  const maxBytes = Math.min(settings.MAX_REPLY_BYTES, maxEntryBytes(settings.CACHE_BYTES));
  const moreShown = new LRUCache<string, true>(MORE_SHOWN);
  /** Answers that are not of legacy itself, whatever their status. */
  const notLegacys = new WeakSet<Answer>();

  const fetch = async (
    read: OldRead,
    client: string,
    isBackground: boolean,
    before: Entry | undefined,
  ): Promise<Fetched | NotForCache> => {
    const holding = openHolding(memory);
    try {
      const reply = await core.fetchPath({ ...read, client, holding, isBackground, maxBytes });
      if (reply === undefined) {
        if (core.outage.isOn()) return unasked(read);
        probe(client).catch(core.observer.fault);
        return "notForCache";
      }
      const { status, contentType: type, body, judgement, coding, advice = {} } = reply;
      if (isIll(reply)) reportIll(core.observer, read.name, reply, { key: undefined, isOfClient: false });
      // A front may treat the client's own request otherwise. A redirection is nothing without the
      // headers that are not kept.
      const mayDiffer = judgement === "refused" || (status >= 300 && status < 400) || coding !== undefined;
      if (mayDiffer && status !== 429) {
        if (coding !== undefined)
          core.observer.event("legacy_cache_unreadable", { endpoint: read.name, status, coding });
        if (before === undefined) passing.set(read.cacheKey.key, true, TREATED_OTHERWISE);
        return "notForCache";
      }
      const answer = { status, body, type };
      const unstored = {
        ...answer,
        headers: { ...advice, ...(coding !== undefined && { "Content-Encoding": coding }) },
      };
      if (judgement === "ill") {
        notLegacys.add(unstored);
        return { answer: unstored, groups: [], judged: 503 };
      }
      const fetched = await judge(core, { ...read, client }, answer, before);
      if (read.cacheKey.lifetimesOf(fetched.judged ?? status) === undefined) return { ...fetched, answer: unstored };
      // An entry has more bytes than its body.
      if (!cache.fits(read.cacheKey.key, { ...fetched, body })) passing.set(read.cacheKey.key, true, TOO_LARGE);
      return fetched;
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.kind === "tooLarge") passing.set(read.cacheKey.key, true, TOO_LARGE);
      // What passes is not collected, and needs no room.
      if (error.kind === "tooLarge" || error.kind === "crowded") return "notForCache";
      reportFailure(read, error.message, isItsFault(error));
      const fetched = failed(core, read, error);
      notLegacys.add(fetched.answer);
      return fetched;
    } finally {
      holding.close();
    }
  };

  const reportFailure = ({ name }: OldRead, why: string, isLegacys: boolean): void =>
    core.observer.event("legacy_failed", { endpoint: name, why, level: isLegacys ? "error" : "warn" });

  /** While legacy fails it is not asked. */
  const unasked = (read: OldRead): Fetched => {
    reportFailure(read, "legacy fails", false);
    const detail = "The legacy interface is failing.";
    const error = { status: 503, detail: () => detail, mayRepeat: "always" } as const;
    const answer = core.writeOwnError({ method: "GET", target: read.path }, error) ?? plainAnswer(503, detail);
    return { answer, groups: [], isForOne: true, isUnasked: true };
  };

  /** Old clients alone have to close an open circuit, too: by a small request, since theirs may take minutes. */
  const probe = (client: string): Promise<unknown> =>
    core.client(core.catalogue.keyProbes.reads, "json", { ...ownCaller(core.totalTimeout), client }, readXml);
  const readXml = xmlReader([]);

  /**
   * What legacy says of the key. While it fails, it says nothing: `unknown`. `late`: not in time, and it has not
   * accepted it within the hour.
   */
  const verdictOn = async (key: string, client: string): Promise<"accepted" | "refused" | "unknown" | "late"> => {
    const verifying = keys.verify({ ...ownCaller(core.totalTimeout), client, key }, false);
    const refusal = await withTimeout(verifying, VERIFY_MS);
    if (refusal === "late" && core.outage.isOn()) return "unknown";
    if (refusal === "late") return keys.wasAccepted(keys.ownerOf(key)) ? "accepted" : "late";
    if (refusal === undefined) return "accepted";
    return refusal.kind === "unauthenticated" || refusal.kind === "forbidden" ? "refused" : "unknown";
  };

  /** What legacy said to this key within the hour, while it has no answer of its own. */
  const sendRefusal = (req: IncomingMessage, res: ServerResponse): true => {
    if (res.destroyed || res.headersSent) return true;
    answerItself(req, res, WRONG_KEY_ANSWER);
    counts.count("error");
    return true;
  };

  /** What is stored for everybody, here or in Redis. */
  const findStored = async (request: CacheRequest) => {
    const found = cache.lookUp(request, performance.now());
    return found?.freshness === "fresh" ? found : ((await cache.lookUpShared(request)) ?? found);
  };

  /**
   * Sends everybody's stored answer in place of one that cannot be used, unless that was done;
   * false where none is stored.
   */
  const sendStored = async (req: IncomingMessage, res: ServerResponse, read: OldRead): Promise<boolean> => {
    const found = await findStored(requestOf(req, read));
    if (res.headersSent) return true;
    if (found === undefined || found.freshness === "not" || res.destroyed) return false;
    const { entry } = found;
    // What everybody does not find may be the caller's own; "no results" of a list says as much as its rows do.
    if (entry.status !== 200 && !read.isList) return false;
    send(req, res, read, { answer: entry, entry, how: { fwd: "stale", detail: "stale-if-error" } });
    return true;
  };

  /** The same in place of no answer of legacy's: a key that it has refused gets that refusal. */
  const sendInPlace = async (req: IncomingMessage, res: ServerResponse, read: OldRead): Promise<boolean> =>
    wasRefused(read) ? sendRefusal(req, res) : sendStored(req, res, read);

  /**
   * Answer requests that wait for legacy, which may have frozen since: everybody's answer may stand in place of its
   * own. As members of a Set they would take half as long again.
   */
  const waiting: { answerNow: () => void; place: number }[] = [];
  core.outage.onChange((why) => {
    if (why !== undefined) for (const { answerNow } of waiting) answerNow();
  });
  const answerWhenLegacyFails = (req: IncomingMessage, res: ServerResponse, read: OldRead): void => {
    // The client has left before: nothing would take it out again.
    if (res.destroyed) return;
    const one = { answerNow: () => void sendInPlace(req, res, read).catch(core.observer.fault), place: 0 };
    one.place = waiting.push(one) - 1;
    res.once("close", () => {
      const last = waiting.pop() as typeof one;
      if (last !== one) waiting[(last.place = one.place)] = last;
    });
  };

  let isPrefetching = false;
  /**
   * Fetches everybody's list, where none is stored that is young: those whose lists pass need one when legacy fails.
   */
  const prefetch = async (req: IncomingMessage, read: OldRead, client: string): Promise<void> => {
    const isTooMuch = isPrefetching || core.load() >= PREFETCH_LOAD || core.outage.isOn();
    if (isTooMuch || passing.has(read.cacheKey.key)) return;
    isPrefetching = true;
    try {
      const request = { ...requestOf(req, read), wanted: {} };
      const found = await findStored(request);
      if (found !== undefined && performance.now() - found.entry.storedAt < PREFETCH_AFTER) return;
      await cache.answer(
        { ...request, wanted: { noCache: true } },
        (_owner, _isBackground, before) => fetch(read, client, true, before),
        noRefusal,
      );
    } finally {
      isPrefetching = false;
    }
  };

  /**
   * What stands in place of the answer to a request that passes, where legacy has none of its own; false:
   * what comes is asked for.
   */
  const substituteFor = (
    req: IncomingMessage,
    res: ServerResponse,
    read: OldRead,
    client: string,
  ): Substitute | false => {
    const { key, cacheKey } = read;
    const { noCache, noStore } = requestOf(req, read).wanted;
    if (noCache || noStore) return false;
    answerWhenLegacyFails(req, res, read);
    return (given) => {
      const judgement = given?.judgement;
      if (given !== undefined && judgement === "own") {
        if (given.status === 200) {
          if (key !== undefined) keys.accepted(key);
          if (cacheKey.personal) prefetch(req, read, client).catch(core.observer.fault);
        } else if (key !== undefined && refusedIn(given, mediaType(given.headers), WRONG_KEY)) keys.refused(key);
      }
      const isNone = given === undefined || judgement === "ill";
      if (given !== undefined && isIll(given)) {
        const { status, headers } = given;
        const about = {
          status,
          contentType: mediaType(headers),
          judgement,
          body: decodedBeginning(given) ?? given.body,
        };
        reportIll(core.observer, read.name, about, { key, isOfClient: true });
      }
      const isDead = judgement === "failed" && given?.status === 500 && given.body.length === 0;
      if (isNone || judgement === "refused" || isDead)
        return (isNone ? sendInPlace : sendStored)(req, res, read).then((isSent) => {
          if (!isSent) counts.count(PASSED);
          return isSent;
        });
      counts.count(PASSED);
      return undefined;
    };
  };

  /** False where the request has to pass; or what may stand in place of legacy's answer to it. */
  const answer = async (req: IncomingMessage, res: ServerResponse, read: OldRead): Promise<boolean | Substitute> => {
    const { isSomebody, key, cacheKey, isBrowser = false } = read;
    const client = exchangeOf(res).caller?.address ?? "";
    const mayBeShownMore = isSomebody && (cacheKey.personal || isBrowser || moreShown.has(cacheKey.key));
    const needsLegacy = passing.has(cacheKey.key) || mayBeShownMore;
    // Legacy may be failing already: the probe that is under way finds out.
    if (needsLegacy && core.outage.isInDoubt()) await core.outage.settled();
    // While it fails, what is stored for everybody is better than nothing.
    if (needsLegacy && !core.outage.isOn()) return mayBeShownMore && substituteFor(req, res, read, client);
    const verdict = key === undefined ? "accepted" : await verdictOn(key, client);
    if (verdict === "unknown" && wasRefused(read)) return sendRefusal(req, res);
    if (verdict === "refused") return false;
    if (verdict === "late") return substituteFor(req, res, read, client);
    const request = requestOf(req, read);
    // Without an entry the request goes to legacy.
    const { onlyIfCached: _, ...wanted } = request.wanted;
    const served = await cache.answer(
      { ...request, wanted },
      (_owner, isBackground, before) => fetch(read, client, isBackground, before),
      noRefusal,
    );
    if (served === "notForCache") return false;
    const { status } = served.answer;
    // What everybody does not find may be the caller's own. Where legacy failed, it has not said what everybody finds.
    const isFailed = served.isUnasked === true || notLegacys.has(served.answer);
    const mayHide = isSomebody && status !== 200 && !isFailed;
    if (mayHide && !core.outage.isOn()) {
      moreShown.set(cacheKey.key, true);
      return substituteFor(req, res, read, client);
    }
    const isHidden = mayHide && !read.isList && !isFailure(served.judged ?? status);
    if (!res.destroyed) send(req, res, read, isHidden ? uncached(unasked(read).answer) : served);
    return true;
  };

  const requestOf = ({ headers }: IncomingMessage, { cacheKey }: OldRead): CacheRequest => ({
    cacheKey,
    owner: undefined,
    wanted: readDirectives(headers["cache-control"], headers.pragma),
  });

  const ownerOf = ({ key }: OldRead): string | undefined => (key === undefined ? undefined : keys.ownerOf(key));

  const wasRefused = (read: OldRead): boolean => {
    const owner = ownerOf(read);
    return owner !== undefined && keys.wasRefused(owner);
  };

  /** A made-up key is no caller. */
  const callerOf = (read: OldRead): string | undefined => {
    const owner = ownerOf(read);
    return owner !== undefined && keys.wasAccepted(owner) ? owner : undefined;
  };

  const send = (req: IncomingMessage, res: ServerResponse, read: OldRead, served: Served): void => {
    const { status } = served.answer;
    const exchange = exchangeOf(res);
    const isNotLegacys = served.entry === undefined && notLegacys.has(served.answer);
    const result = isNotLegacys ? "error" : answerResultOf(status, served.how);
    exchange.cache = result;
    exchange.owner = callerOf(read);
    const { "accept-encoding": acceptEncoding, "if-none-match": ifNoneMatch } = req.headers;
    const keyed = read.isSomebody;
    const request = { method: "GET", acceptEncoding, ifNoneMatch, keyed, cors: dialect.cors(req, exchange) };
    const reply = replyWith(served, request, performance.now(), dialect.writeHeaders);
    const isSent = sendWhole(res, reply, undefined, dialect.writeError);
    counts.count(isSent ? result : "error", performance.now() - exchange.started);
    if (isNotLegacys) counts.countHiddenFailure(status);
  };

  /** What a request asks for, and who asks; `undefined`: it has to pass. */
  const readOf = (req: IncomingMessage, exchange: HttpExchange): OldRead | undefined => {
    const asking = reads.asking(req);
    if (asking === undefined) return undefined;
    const path = pathOf(req.url ?? "/");
    const known = hitPath.recall(path, dialect);
    const read = known ?? reads.readPath(path, exchange);
    if (read === undefined) return undefined;
    if (known === undefined) hitPath.learn(path, dialect, read);
    return { ...read, ...asking, cacheKey: read.cacheKeys[asking.scheme] };
  };

  const answerOrPass = async (req: IncomingMessage, res: ServerResponse, read: OldRead, pass: Pass): Promise<void> => {
    const answered = await answer(req, res, read).catch((error: unknown) => {
      core.observer.fault(error);
      return res.headersSent;
    });
    if (answered === true) return;
    if (answered !== false) return pass(answered);
    counts.count(PASSED);
    pass();
  };

  return {
    console: { page: async () => (await import("./page.ts")).readsPage(counts.view) },
    proxy: {
      standIn(req, res, pass) {
        const read = readOf(req, exchangeOf(res));
        if (read === undefined) return false;
        counts.watch(res);
        answerOrPass(req, res, read, pass).catch((error: unknown) => core.guard.fail(res, error));
        return true;
      },
    },
  };
};

const noRefusal = async (): Promise<undefined> => undefined;

/**
 * What the pass-through answers where legacy gives no answer. One without room for a request is for one caller alone.
 */
const failed = (
  { writeOwnError }: CachingCore,
  { path: target }: OldRead,
  { kind: trouble }: UpstreamFailure,
): Fetched => {
  const answer = answerTo({ method: "GET", target }, { trouble }, writeOwnError);
  return { answer, groups: [], ...(answer.status === 503 ? { isForOne: true } : {}) };
};

export const feature = { open, events: legacyCacheEvents };
