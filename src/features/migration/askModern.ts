import type { Fetched } from "../../cache/cacheRequest.ts";
import { freshOnly } from "../../cache/entry.ts";
import { type Answered, untagged } from "../../cache/reply.ts";
import { type Answer, answerOf } from "../../endpoint/answer.ts";
import { canonicalRequest } from "../../endpoint/canonicalRequest.ts";
import type { Caller } from "../../legacy/client.ts";
import type { ModernClient, ModernReply } from "../../modern/client.ts";
import type { EndpointRequest } from "../../serve/backend.ts";
import type { Unanswered } from "../../serve/legacyFetch.ts";
import type { PreparedEndpoint } from "../../serve/prepared.ts";
import type { Services } from "../../serve/services.ts";
import type { Migration } from "./migration.ts";

/** The new implementation, and what asking it takes. */
export type Modern = {
  client: ModernClient;
  /** Milliseconds for one answer, before legacy is asked instead. */
  timeout: number;
  /** The routes that the operator has set, by endpoint. */
  routes: Readonly<Record<string, string>>;
  /** Tells one implementation from another in cache keys. */
  identity: string;
};

/** What the migration of endpoints needs. */
export type MigrationServices = { services: Services; migration: Migration; modern: Modern };

type Input = Record<string, unknown>;

/** Asks modern for one answer, within its timeout. */
const askModern = async (
  { services: { observer, keys }, migration, modern }: MigrationServices,
  endpoint: PreparedEndpoint,
  input: Input,
  { key, headers, client = "", deadline }: Caller,
): Promise<ModernReply> => {
  if (deadline <= Date.now()) return { failed: "it took too long" };
  const started = performance.now();
  const reply = await modern.client.ask(endpoint, canonicalRequest(endpoint, input, modern.routes[endpoint.name]), {
    headers,
    client,
    deadline: Math.min(deadline, Date.now() + modern.timeout),
    from: key === undefined ? client : keys.ownerOf(key),
    ...(key === undefined ? {} : { key }),
  });
  if (!("failed" in reply && reply.isUnasked))
    migration.track(endpoint.name).asked("modern", performance.now() - started, "failed" in reply);
  if ("failed" in reply) observer.event("modern_failed", { endpoint: endpoint.name, why: reply.failed });
  return reply;
};

/**
 * Modern's answer to a read, cached as legacy's are; `undefined` where there is none that can be served. Answers to callers with a key are not
 * cached: only legacy's check of a key lets its owner read cached answers.
 */
export const readByModern = async (
  parts: MigrationServices,
  { endpoint, input, wanted }: EndpointRequest,
  caller: Caller,
): Promise<Answered | undefined> => {
  const { services, modern } = parts;
  let failed = false;
  // A request that waits for another one's answer in vain has no time left to wait once more.
  const own = { ...caller, deadline: Math.min(caller.deadline, Date.now() + modern.timeout) };
  const fetch = async (): Promise<Fetched> => {
    const reply = await askModern(parts, endpoint, input, own);
    failed = "failed" in reply;
    if ("failed" in reply) return { answer: noAnswer, groups: [] };
    return { answer: reply.answer, groups: endpoint.cache?.groups(input, reply.document) ?? [] };
  };
  const cacheKey = endpoint.cacheKey?.(input, modern.identity);
  if (cacheKey === undefined || caller.key !== undefined) {
    const { answer } = await fetch();
    return failed ? undefined : { representation: untagged(answer), cacheable: false, how: { fwd: "bypass" } };
  }
  const answered = await services.cache.answer(
    // Where modern fails legacy is asked: no answer of modern's is served stale.
    { cacheKey: { ...cacheKey, lifetimesOf: freshOnly(cacheKey.lifetimesOf) }, owner: undefined, wanted },
    fetch,
    async () => undefined,
  );
  const { status } = "entry" in answered ? answered.entry : answered.representation;
  return failed || status >= 500 ? undefined : answered;
};

const noAnswer: Answer = answerOf({ kind: "broken", message: "The new implementation gave no answer." });

/** Sends a write to modern, once: where modern fails, legacy is not asked. */
export const writeByModern = async (
  parts: MigrationServices,
  { endpoint, input }: EndpointRequest,
  caller: Caller,
): Promise<{ answer: Answer; unanswered?: Unanswered }> => {
  const reply = await askModern(parts, endpoint, input, caller);
  if ("failed" in reply) {
    // A 4xx that is not the endpoint's own, such as a router's 404, changed nothing either.
    const status = reply.status ?? 0;
    const isRefused = reply.isUnasked === true || (status >= 400 && status < 500);
    return { answer: noAnswer, unanswered: isRefused ? "refused" : "unknown" };
  }
  return reply.answer.status >= 500 ? { answer: reply.answer, unanswered: "unknown" } : { answer: reply.answer };
};
