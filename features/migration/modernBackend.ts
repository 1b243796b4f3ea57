import { canonicalRequest } from "../../libraries/compare/canonicalRequest.ts";
import { idOfKey } from "../../src/operation/index.ts";
import {
  type Context,
  type Core,
  type Fetched,
  type Served,
  staleAnswer,
  staleIfErrorOnly,
  uncached,
  type WriteFate,
  type Writes,
} from "../../src/gateway/index.ts";
import { type Answer, answerOf } from "../../src/catalogue/index.ts";
import type { ModernReply } from "../../libraries/modern/client.ts";
import type { Migration } from "./migration.ts";
import type { Modern } from "./modern.ts";

type AnsweringCore = Pick<Core, "cache" | "observer"> & { writes: Writes };

/** Opens the backend that answers by modern. */
export const openModernBackend = (core: AnsweringCore, modern: Modern, migration: Migration) => {
  const { cache, observer, writes } = core;

  /** Asks modern for one answer, within its timeout. */
  const ask = async (context: Context): Promise<ModernReply> => {
    const { endpoint, input, deadline } = context;
    if (deadline <= performance.now()) return { failed: "it took too long" };
    const started = performance.now();
    const request = canonicalRequest(endpoint, input, modern.routes[endpoint.name]);
    const until = Math.min(deadline, performance.now() + modern.timeout);
    const reply = await modern.client.ask({ endpoint, input }, request, { ...context, deadline: until });
    if (!("failed" in reply && reply.isUnasked))
      migration.track(endpoint.name).asked("modern", performance.now() - started, "failed" in reply);
    if ("failed" in reply) observer.event("modern_failed", { endpoint: endpoint.name, why: reply.failed });
    return reply;
  };

  /** Asks modern for a read. If modern finds nothing, it may be private: other reads of the same caller show that. */
  const askToRead = async (context: Context): Promise<ModernReply> => {
    const reply = await ask(context);
    const { mustRead } = context.endpoint;
    if (mustRead === undefined || "failed" in reply || reply.answer.status !== 404) return reply;
    const shown = await ask({ ...context, endpoint: mustRead.endpoint, input: mustRead.inputOf(context.input) });
    return "failed" in shown || shown.answer.status === 401 || shown.answer.status === 403 ? shown : reply;
  };

  const read = async (context: Context): Promise<Served | undefined> => {
    const { endpoint, input, wanted } = context;
    let failed = false;
    // A request may wait for the same fetch of another request. If that fails, the wait has used up its time as well.
    const own = { ...context, deadline: Math.min(context.deadline, performance.now() + modern.timeout) };
    const fetch = async (): Promise<Fetched> => {
      const reply = await askToRead(own);
      failed = "failed" in reply;
      if ("failed" in reply) return { answer: noAnswer, groups: [] };
      return reply.groups === undefined ? { ...reply, groups: endpoint.cache?.groups(input) ?? [] } : reply;
    };
    const cacheKey = endpoint.cacheKey?.(input, modern.identity);
    if (cacheKey === undefined || context.key !== undefined) {
      const { answer } = await fetch();
      return failed ? undefined : uncached(answer, "bypass");
    }
    // If modern fails, legacy answers: stale answers of modern are served only if legacy fails, too.
    const lifetimesOf = staleIfErrorOnly(cacheKey.lifetimesOf);
    const answered = await cache.answer(
      { cacheKey: { ...cacheKey, lifetimesOf }, owner: undefined, wanted: { ...wanted, onlyFresh: true } },
      fetch,
      async () => undefined,
    );
    // An entry from before a restart is stale, too, whatever its age.
    const isStale = answered.how.detail === "stale-if-error";
    return failed || isStale || answered.answer.status >= 500 ? undefined : answered;
  };

  return {
    /**
     * Modern's answer to a read, cached as legacy's are; `undefined` if it cannot be served. Answers to callers with a
     * key are not cached: a key may read cached answers only after legacy has accepted it.
     */
    read,
    /** Modern's stored answer for this caller, for when neither side answers; `undefined`: there is none. */
    async readStored({ endpoint, input, key, wanted }: Context): Promise<Served | undefined> {
      const cacheKey = endpoint.cacheKey?.(input, modern.identity);
      if (cacheKey === undefined || wanted.onlyIfCached) return undefined;
      const found = await cache.find({ cacheKey, owner: key === undefined ? undefined : idOfKey(key), wanted });
      const isUsable = found !== undefined && found.freshness !== "not" && found.entry.status === 200;
      return isUsable ? staleAnswer(found.entry) : undefined;
    },
    /** Legacy refuses what modern answered before: that answer is not shown any more. */
    async forget({ endpoint, input }: Context): Promise<void> {
      const cacheKey = endpoint.cacheKey?.(input, modern.identity);
      if (cacheKey) await cache.forget(cacheKey);
    },
    /** Sends a write to modern, once. If modern fails, the write is not sent to legacy. */
    write: async (context: Context): Promise<Served> => writes.confirm(context, writeAnswer(await ask(context))),
  };
};

const noAnswer: Answer = answerOf({ kind: "broken", message: "The new implementation gave no answer." });

const writeAnswer = (reply: ModernReply): { answer: Answer; fate?: WriteFate } => {
  if ("failed" in reply) {
    // With any 4xx, such as a router's 404, modern has refused the write.
    const status = reply.status ?? 0;
    const isRefused = reply.isUnasked === true || (status >= 400 && status < 500);
    return { answer: noAnswer, fate: isRefused ? "refused" : "unknown" };
  }
  return reply.answer.status >= 500 ? { answer: reply.answer, fate: "unknown" } : { answer: reply.answer };
};
