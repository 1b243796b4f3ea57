import type { Fetched } from "../../cache/cacheRequest.ts";
import { freshOnly } from "../../cache/policy.ts";
import { type Answered, untagged } from "../../cache/reply.ts";
import { type Answer, answerOf } from "../../endpoint/answer.ts";
import { canonicalRequest } from "../../endpoint/canonicalRequest.ts";
import type { Caller } from "../../legacy/client.ts";
import type { ModernClient, ModernReply } from "../../modern/client.ts";
import type { EndpointRequest } from "../../serve/backend.ts";
import type { Unanswered } from "../../serve/legacyFetch.ts";
import type { PreparedEndpoint } from "../../serve/prepared.ts";
import type { Services } from "../../serve/feature.ts";
import type { Migration } from "./migration.ts";

/** The new implementation, and how to send requests to it. */
export type Modern = {
  client: ModernClient;
  /** Milliseconds for one answer; after that legacy answers instead. */
  timeout: number;
  /** The routes that the operator has set, by endpoint. */
  routes: Readonly<Record<string, string>>;
  /** Identifies the implementation in cache keys. */
  identity: string;
};

/** The services that the migration of endpoints needs. */
export type MigrationServices = { services: Services; migration: Migration; modern: Modern };

type Input = Record<string, unknown>;

/** Asks modern for one answer, within its timeout. */
const askModern = async (
  { services: { observer }, migration, modern }: MigrationServices,
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
    ...(key === undefined ? {} : { key }),
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
export const readByModern = async (
  parts: MigrationServices,
  { endpoint, input, wanted }: EndpointRequest,
  caller: Caller,
): Promise<Answered | undefined> => {
  const { services, modern } = parts;
  let failed = false;
  // A request may wait for the same fetch of another one. If that fails, the wait has used up its time as well.
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
    // If modern fails, legacy answers: stale answers of modern are not served.
    { cacheKey: { ...cacheKey, lifetimesOf: freshOnly(cacheKey.lifetimesOf) }, owner: undefined, wanted },
    fetch,
    async () => undefined,
  );
  const { status } = "entry" in answered ? answered.entry : answered.representation;
  return failed || status >= 500 ? undefined : answered;
};

const noAnswer: Answer = answerOf({ kind: "broken", message: "The new implementation gave no answer." });

/** Sends a write to modern, once. If modern fails, the write is not sent to legacy. */
export const writeByModern = async (
  parts: MigrationServices,
  { endpoint, input }: EndpointRequest,
  caller: Caller,
): Promise<{ answer: Answer; unanswered?: Unanswered }> => {
  const reply = await askModern(parts, endpoint, input, caller);
  if ("failed" in reply) {
    // With any 4xx, such as a router's 404, modern has refused the write.
    const status = reply.status ?? 0;
    const isRefused = reply.isUnasked === true || (status >= 400 && status < 500);
    return { answer: noAnswer, unanswered: isRefused ? "refused" : "unknown" };
  }
  return reply.answer.status >= 500 ? { answer: reply.answer, unanswered: "unknown" } : { answer: reply.answer };
};
