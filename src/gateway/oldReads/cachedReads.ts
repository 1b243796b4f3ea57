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
import type { Served } from "../cache/served.ts";
import type { FoundEntry } from "../cache/tieredEntries.ts";
import type { UpstreamReply } from "../upstream/ask.ts";
import { judge } from "./judge.ts";
import type { OldRead } from "./oldRead.ts";

/** The number of remembered paths whose requests are proxied at once, and the milliseconds for each reason. */
const MAX_PASSING = 1000;
const TOO_LARGE = { ttl: 3_600_000 };
const TREATED_OTHERWISE = { ttl: 60_000 };

/** The answers to reads of old clients that are the same for all callers: from the cache or by a fetch. */
export class CachedReads {
  readonly #core: WholeCore;
  /** Paths whose requests are proxied at once for now. */
  readonly #passing = new LRUCache<string, true>({ max: MAX_PASSING, perf: monotonic });
  /** The bytes of the largest answer that the cache stores. */
  readonly #maxBytes: number;
  /** Answers that are not from legacy itself, with any status. */
  readonly #notLegacys = new WeakSet<Answer>();

  constructor(core: WholeCore) {
    const { MAX_REPLY_BYTES, CACHE_BYTES } = core.settings;
    this.#core = core;
    this.#maxBytes = Math.min(MAX_REPLY_BYTES, maxEntryBytes(CACHE_BYTES));
  }

  /** True if each request for this path has to be proxied for now. */
  isPassing({ cacheKey }: OldRead): boolean {
    return this.#passing.has(cacheKey.key);
  }

  isOfLegacy(answer: Answer): boolean {
    return !this.#notLegacys.has(answer);
  }

  /** The public entry that is stored here or in Redis. */
  async findStored(read: OldRead): Promise<FoundEntry | undefined> {
    const { cache } = this.#core;
    const request = requestOf(read);
    const found = cache.lookUp(request, performance.now());
    return found?.freshness === "fresh" ? found : ((await cache.lookUpInTier(request)) ?? found);
  }

  /** The public answer; `notForCache`: the request has to be proxied. */
  answer(read: OldRead): Promise<Served | NotForCache> {
    return this.#core.cache.answer(
      requestOf(read),
      (_owner, isBackground, before) => this.#fetch(read, isBackground, before),
      async () => undefined,
    );
  }

  async #fetch(read: OldRead, isBackground: boolean, before: Entry | undefined): Promise<Fetched | NotForCache> {
    const { memory, outage, fetchPath } = this.#core;
    const { key } = read.cacheKey;
    const holding = openHolding(memory);
    try {
      const reply = await fetchPath({ ...read, holding, isBackground, maxBytes: this.#maxBytes });
      // While legacy fails, a page from another server counts as no answer.
      if (reply === undefined || (reply.judgement === "ill" && outage.isOn())) return this.unasked(read);
      return await this.#judge(read, reply, before);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.kind === "tooLarge") this.#passing.set(key, true, TOO_LARGE);
      // A proxied request is not collected, and needs no room.
      if (error.kind === "tooLarge" || error.kind === "crowded") return "notForCache";
      return this.#failed(read, error);
    } finally {
      holding.close();
    }
  }

  /** Says how legacy's reply is stored, or that it is not for the cache. */
  async #judge(read: OldRead, reply: UpstreamReply, before: Entry | undefined): Promise<Fetched | NotForCache> {
    const { cache, observer } = this.#core;
    const { key, lifetimesOf } = read.cacheKey;
    const { status, contentType: type, body, judgement, coding, advice = {} } = reply;
    if (isIll(reply)) reportIll(observer, read.name, reply, { key: undefined, isOfClient: false });
    // A front may answer the client's own request differently. A redirection is useless without its headers, which
    // are not stored.
    const mayDiffer = judgement === "refused" || (status >= 300 && status < 400) || coding !== undefined;
    if (mayDiffer && status !== 429) {
      if (coding !== undefined) observer.event("legacy_cache_unreadable", { endpoint: read.name, status, coding });
      if (before === undefined) this.#passing.set(key, true, TREATED_OTHERWISE);
      return "notForCache";
    }
    const answer = { status, body, type };
    const headers = { ...advice, ...(coding !== undefined && { "Content-Encoding": coding }) };
    if (judgement === "ill") {
      const ill = { ...answer, headers, judged: 503 };
      this.#notLegacys.add(ill);
      return { answer: ill, groups: [] };
    }
    const fetched = await judge(this.#core, read, answer, before);
    const judged = judgedStatus(fetched.answer);
    // Legacy has refused a POST with this caller's key: the refusal is not for other callers.
    if (read.posted !== undefined && (judged === 401 || judged === 403)) return "notForCache";
    if (lifetimesOf(judged) === undefined) return { ...fetched, answer: { ...answer, headers, judged } };
    // An entry has more bytes than its body.
    if (!cache.fits(key, { ...fetched, body })) this.#passing.set(key, true, TOO_LARGE);
    return fetched;
  }

  /** The answer of the pass-through if legacy gives no answer. If there was no room, it is for one caller only. */
  #failed(read: OldRead, failure: UpstreamFailure): Fetched {
    this.#reportFailure(read, failure.message, isItsFault(failure));
    const request = { method: "GET", target: read.path };
    const answer = this.#core.ownErrors.answerTo(request, errorOf({ trouble: failure.kind }));
    this.#notLegacys.add(answer);
    return { answer, groups: [], ...(answer.status === 503 && { forOne: "noRoom" }) };
  }

  /** The answer while legacy fails: the request is not sent. */
  unasked(read: OldRead): Fetched {
    this.#reportFailure(read, "legacy fails", false);
    const request = { method: "GET", target: read.path };
    const error = { status: 503, detail: "The legacy interface is failing." };
    return { answer: this.#core.ownErrors.answerTo(request, error), groups: [], forOne: "unasked" };
  }

  #reportFailure({ name }: OldRead, why: string, isLegacys: boolean): void {
    this.#core.observer.event("legacy_failed", { endpoint: name, why, level: isLegacys ? "error" : "warn" });
  }
}

/** The cache request of a read: it has no owner, since only public answers are stored. */
const requestOf = ({ cacheKey, wanted }: OldRead): CacheRequest => ({ cacheKey, owner: undefined, wanted });
