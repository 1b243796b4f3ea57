import type { Fetched } from "../../gateway/cache/cacheRequest.ts";
import { freshOnly } from "../../gateway/cache/policy.ts";
import { type Served, uncached } from "../../gateway/cache/served.ts";
import { type Answer, answerOf } from "../../catalogue/endpoint/answer.ts";
import { canonicalRequest } from "../../catalogue/endpoint/canonicalRequest.ts";
import type { ModernReply } from "../../libraries/modern/client.ts";
import { authorize } from "../../gateway/answer/authorize.ts";
import type { Asker, Context, Layer } from "../../gateway/answer/context.ts";
import type { Core } from "../../gateway/answer/feature.ts";
import type { WriteFate } from "../../gateway/answer/legacyFetch.ts";
import { confirmWrite } from "../../gateway/answer/legacyBackend.ts";
import { type Bucketing, bucketOf, decide } from "./decide.ts";
import type { Migration } from "./migration.ts";
import type { MigrationSettings } from "./settings.ts";
import type { Modern } from "./modern.ts";
import { openShadow } from "./shadow.ts";

/** What the layer takes of the core. */
export type LayeredCore = Pick<
  Core,
  "cache" | "errors" | "hooks" | "keys" | "meter" | "observer" | "settings" | "totalTimeout" | "unconfirmed"
>;

/**
 * Modern answers if the endpoint's stage says so. Legacy answers a read that modern fails. Both sides are compared after the answer; `recheck`:
 * milliseconds until a mismatch is checked again.
 */
export const openLayer = (
  core: LayeredCore,
  { FORCE_BACKEND: mayForce, MIRROR_RATE: rate }: MigrationSettings,
  modern: Modern,
  migration: Migration,
  recheck: number,
) => {
  const { cache, meter, observer } = core;
  const shadow = openShadow(core, modern, migration, rate, recheck);
  const decisions = meter.counter("backend_answers_total", "Answers by the side that made them.", [
    "backend",
    "reason",
  ]);

  /** Asks modern for one answer, within its timeout. */
  const ask = async (context: Context): Promise<ModernReply> => {
    const { endpoint, input, deadline } = context;
    if (deadline <= performance.now()) return { failed: "it took too long" };
    const started = performance.now();
    const reply = await modern.client.ask(endpoint, canonicalRequest(endpoint, input, modern.routes[endpoint.name]), {
      ...context,
      deadline: Math.min(deadline, performance.now() + modern.timeout),
    });
    if (!("failed" in reply && reply.isUnasked))
      migration.track(endpoint.name).asked("modern", performance.now() - started, "failed" in reply);
    if ("failed" in reply) observer.event("modern_failed", { endpoint: endpoint.name, why: reply.failed });
    return reply;
  };

  /**
   * Modern's answer to a read, cached as legacy's are; `undefined` if it cannot be served. Answers to callers with a key are not cached: a key
   * may read cached answers only after legacy has accepted it.
   */
  const read = async (context: Context): Promise<Served | undefined> => {
    const { endpoint, input, wanted } = context;
    let failed = false;
    // A request may wait for the same fetch of another one. If that fails, the wait has used up its time as well.
    const own = { ...context, deadline: Math.min(context.deadline, performance.now() + modern.timeout) };
    const fetch = async (): Promise<Fetched> => {
      const reply = await ask(own);
      failed = "failed" in reply;
      if ("failed" in reply) return { answer: noAnswer, groups: [] };
      return { answer: reply.answer, groups: endpoint.cache?.groups(input, reply.document) ?? [] };
    };
    const cacheKey = endpoint.cacheKey?.(input, modern.identity);
    if (cacheKey === undefined || context.key !== undefined) {
      const { answer } = await fetch();
      return failed ? undefined : uncached(answer, "bypass");
    }
    const answered = await cache.answer(
      // If modern fails, legacy answers: stale answers of modern are not served.
      { cacheKey: { ...cacheKey, lifetimesOf: freshOnly(cacheKey.lifetimesOf) }, owner: undefined, wanted },
      fetch,
      async () => undefined,
    );
    const { status } = answered.answer;
    return failed || status >= 500 ? undefined : answered;
  };

  /** Sends a write to modern, once. If modern fails, the write is not sent to legacy. */
  const write = async (context: Context): Promise<Served> =>
    confirmWrite(core, context, writeAnswer(await ask(context)));

  /** A caller always sees the same side. Its key identifies it or, without a key, its address and user agent. */
  const bucketing = ({ key, client, header }: Asker): Bucketing => {
    const forced = mayForce ? header("gateway-backend") : undefined;
    // Legacy ignores the case of keys.
    const caller = () =>
      key === undefined ? `client ${client} ${header("user-agent") ?? ""}` : `key ${key.toLowerCase()}`;
    return {
      bucket: () => bucketOf(caller()),
      ...(forced === "legacy" || forced === "modern" ? { forced } : {}),
    };
  };

  const layer: Layer = (next) => async (context) => {
    const { endpoint } = context;
    const decision = migration.decide(endpoint.name, bucketing(context));
    const isModern = decision.backend === "modern";
    const refusal = isModern ? await authorize(core, context, true) : undefined;
    if (refusal) return { ...uncached(refusal), decision: { ...decision, backend: "gateway", reason: "credential" } };
    if (endpoint.writes) {
      const served = isModern ? await write(context) : await next(context);
      return { ...served, decision };
    }
    const answered = isModern ? await read(context) : undefined;
    const isFallback = isModern && answered === undefined;
    const made = isFallback ? { ...decision, backend: "legacy" as const, reason: "fallback" } : decision;
    const served: Served = answered ?? (await next(context));
    if (decision.stage === "legacy") return { ...served, decision: made };
    decisions(made.backend, made.reason).value++;
    const afterwards = () => {
      if (migration.isCompared(endpoint.name))
        shadow.compare({ context, next, answered: served, backend: made.backend });
    };
    return {
      ...served,
      decision: made,
      isDivided: decision.stage === "canary" || decision.reason === "forced",
      // An incomplete list would differ from modern's.
      ...(served.isIncomplete ? {} : { afterwards }),
    };
  };

  return {
    layer,
    /** Which side answers this caller, by the endpoint's stage and by what the request names. */
    decide: (endpoint: string, asker: Asker) => decide(migration.stageOf(endpoint), bucketing(asker)),
    shed: shadow.shed,
    idle: () => shadow.idle(),
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
