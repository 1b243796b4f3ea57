import { LRUCache } from "lru-cache";
import { type Answer, judgedStatus } from "../../catalogue/index.ts";
import { monotonic, openHolding } from "../../operation/index.ts";
import type { WholeCore } from "../answer/core.ts";
import { isIll, reportIll } from "../answer/illAnswer.ts";
import type { CacheRequest, Fetched, NotForCache } from "../cache/cacheRequest.ts";
import type { Entry } from "../cache/entry.ts";
import { maxEntryBytes } from "../cache/store.ts";
import { errorOf } from "../proxy/refuse.ts";
import { isItsFault, UpstreamFailure } from "../upstream/failure.ts";
import { judge } from "./judge.ts";
import type { OldRead } from "./oldRead.ts";

type CachingCore = Pick<
  WholeCore,
  | "cache"
  | "catalogue"
  | "errors"
  | "fetchPath"
  | "judgeEmpty"
  | "memory"
  | "observer"
  | "outage"
  | "ownErrors"
  | "reader"
  | "settings"
  | "totalTimeout"
>;

/** The public answers to reads of old clients. */
export type CachedReads = ReturnType<typeof openCachedReads>;

/** The number of remembered paths whose requests are proxied at once, and the milliseconds for each reason. */
const MAX_PASSING = 1000;
const TOO_LARGE = { ttl: 3_600_000 };
const TREATED_OTHERWISE = { ttl: 60_000 };

/** Opens the answers to reads that are the same for all callers: from the cache or by a fetch. */
export const openCachedReads = (core: CachingCore) => {
  const { cache, observer, settings } = core;
  const passing = new LRUCache<string, true>({ max: MAX_PASSING, perf: monotonic });
  const maxBytes = Math.min(settings.MAX_REPLY_BYTES, maxEntryBytes(settings.CACHE_BYTES));
  /** Answers that are not from legacy itself, with any status. */
  const notLegacys = new WeakSet<Answer>();

  const fetch = async (
    read: OldRead,
    isBackground: boolean,
    before: Entry | undefined,
  ): Promise<Fetched | NotForCache> => {
    const holding = openHolding(core.memory);
    try {
      const reply = await core.fetchPath({ ...read, holding, isBackground, maxBytes });
      if (reply === undefined) return unasked(read);
      const { status, contentType: type, body, judgement, coding, advice = {} } = reply;
      // While legacy fails, a page from another server counts as no answer.
      if (judgement === "ill" && core.outage.isOn()) return unasked(read);
      if (isIll(reply)) reportIll(observer, read.name, reply, { key: undefined, isOfClient: false });
      // A front may answer the client's own request differently. A redirection is useless without its headers, which
      // are not stored.
      const mayDiffer = judgement === "refused" || (status >= 300 && status < 400) || coding !== undefined;
      if (mayDiffer && status !== 429) {
        if (coding !== undefined) observer.event("legacy_cache_unreadable", { endpoint: read.name, status, coding });
        if (before === undefined) passing.set(read.cacheKey.key, true, TREATED_OTHERWISE);
        return "notForCache";
      }
      const answer = { status, body, type };
      const unstored = {
        ...answer,
        headers: { ...advice, ...(coding !== undefined && { "Content-Encoding": coding }) },
      };
      if (judgement === "ill") {
        const ill = { ...unstored, judged: 503 };
        notLegacys.add(ill);
        return { answer: ill, groups: [] };
      }
      const fetched = await judge(core, read, answer, before);
      // Legacy has refused a POST with this caller's key: the refusal is not for other callers.
      const judged = judgedStatus(fetched.answer);
      if (read.posted !== undefined && (judged === 401 || judged === 403)) return "notForCache";
      if (read.cacheKey.lifetimesOf(judged) === undefined) return { ...fetched, answer: { ...unstored, judged } };
      // An entry has more bytes than its body.
      if (!cache.fits(read.cacheKey.key, { ...fetched, body })) passing.set(read.cacheKey.key, true, TOO_LARGE);
      return fetched;
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.kind === "tooLarge") passing.set(read.cacheKey.key, true, TOO_LARGE);
      // A proxied request is not collected, and needs no room.
      if (error.kind === "tooLarge" || error.kind === "crowded") return "notForCache";
      return failed(read, error);
    } finally {
      holding.close();
    }
  };

  const reportFailure = ({ name }: OldRead, why: string, isLegacys: boolean): void =>
    observer.event("legacy_failed", { endpoint: name, why, level: isLegacys ? "error" : "warn" });

  /**
   * The answer of the pass-through if legacy gives no answer. If there was no room, it is for one caller only.
   */
  const failed = (read: OldRead, failure: UpstreamFailure): Fetched => {
    reportFailure(read, failure.message, isItsFault(failure));
    const request = { method: "GET", target: read.path };
    const answer = core.ownErrors.answerTo(request, errorOf({ trouble: failure.kind }));
    notLegacys.add(answer);
    return { answer, groups: [], ...(answer.status === 503 && { forOne: "noRoom" }) };
  };

  /** The answer while legacy fails: the request is not sent. */
  const unasked = (read: OldRead): Fetched => {
    reportFailure(read, "legacy fails", false);
    const request = { method: "GET", target: read.path };
    const answer = core.ownErrors.answerTo(request, { status: 503, detail: "The legacy interface is failing." });
    return { answer, groups: [], forOne: "unasked" };
  };

  return {
    unasked,
    /** True if each request for this path has to be proxied for now. */
    isPassing: ({ cacheKey }: OldRead): boolean => passing.has(cacheKey.key),
    isOfLegacy: (answer: Answer): boolean => !notLegacys.has(answer),
    /** The public answer; `notForCache`: the request has to be proxied. */
    answer: (read: OldRead) =>
      cache.answer(
        requestOf(read),
        (_owner, isBackground, before) => fetch(read, isBackground, before),
        async () => undefined,
      ),
    /** The public entry that is stored here or in Redis. */
    async findStored(read: OldRead) {
      const request = requestOf(read);
      const found = cache.lookUp(request, performance.now());
      return found?.freshness === "fresh" ? found : ((await cache.lookUpShared(request)) ?? found);
    },
  };
};

/** The cache request of a read: it has no owner, since only public answers are stored. */
const requestOf = ({ cacheKey, wanted }: OldRead): CacheRequest => ({ cacheKey, owner: undefined, wanted });
