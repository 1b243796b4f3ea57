import type { Directives } from "../cache/directives.ts";
import type { Fetched } from "../cache/cacheRequest.ts";
import type { Answered } from "../cache/reply.ts";
import { untagged } from "../cache/representation.ts";
import { canonicalRequest } from "../endpoint/canonicalRequest.ts";
import type { Caller } from "../legacy/client.ts";
import type { ModernReply } from "../modern/client.ts";
import { type Answer, answerOf } from "../endpoint/answer.ts";
import type { Unanswered } from "./answering.ts";
import type { Services } from "./services.ts";
import type { PreparedEndpoint } from "./prepared.ts";

type Input = Record<string, unknown>;

/** Asks modern for one answer, in the time it has. */
export const askModern = async (
  { modern, migration, observer, keys }: Services,
  endpoint: PreparedEndpoint,
  input: Input,
  caller: Caller,
): Promise<ModernReply> => {
  if (modern === undefined) return { failed: "there is no modern backend" };
  if (caller.deadline <= Date.now()) return { failed: "it took too long" };
  const started = performance.now();
  const deadline = Math.min(caller.deadline, Date.now() + modern.timeout);
  const { key, headers, client = "" } = caller;
  const reply = await modern.client.ask(endpoint, canonicalRequest(endpoint, input, modern.routes[endpoint.name]), {
    headers,
    client,
    deadline,
    from: key === undefined ? client : keys.ownerOf(key),
    ...(key === undefined ? {} : { key }),
  });
  if (!("failed" in reply && reply.isUnasked))
    migration.track(endpoint.name).asked("modern", performance.now() - started, "failed" in reply);
  if ("failed" in reply) observer.event("modern_failed", { endpoint: endpoint.name, why: reply.failed });
  return reply;
};

/**
 * Modern's answer to a read, kept as legacy's is; `undefined` where it has none that can be served. What is asked with a key is kept for
 * nobody: only legacy's word on a key lets anybody see what is kept.
 */
export const readByModern = async (
  services: Services,
  endpoint: PreparedEndpoint,
  { input, wanted, caller }: { input: Input; wanted: Directives; caller: Caller },
): Promise<Answered | undefined> => {
  const question = endpoint.cacheKey?.(input, "modern");
  let failed = false;
  // Whoever waits for another's question that fails has no second time to wait.
  const own = { ...caller, deadline: Math.min(caller.deadline, Date.now() + (services.modern?.timeout ?? 0)) };
  const fill = async (as: Caller): Promise<Fetched> => {
    const reply = await askModern(services, endpoint, input, as);
    failed = "failed" in reply;
    if ("failed" in reply) return { answer: noAnswer, groups: [] };
    return { answer: reply.answer, groups: endpoint.cache?.groups(input, reply.document) ?? [] };
  };
  if (question === undefined || caller.key !== undefined) {
    const { answer } = await fill(own);
    return failed ? undefined : { representation: untagged(answer), cacheable: false, how: { fwd: "bypass" } };
  }
  const answered = await services.cache.answer(
    { cacheKey: question, owner: undefined, wanted },
    () => fill(own),
    async () => undefined,
  );
  const { status } = "entry" in answered ? answered.entry : answered.representation;
  return failed || status >= 500 ? undefined : answered;
};

const noAnswer: Answer = answerOf({ kind: "broken", message: "The new implementation gave no answer." });

/** A write goes to one side only, and is sent once: where modern fails, nobody else is asked. */
export const writeByModern = async (
  services: Services,
  endpoint: PreparedEndpoint,
  input: Input,
  caller: Caller,
): Promise<{ answer: Answer; unanswered?: Unanswered }> => {
  const reply = await askModern(services, endpoint, input, caller);
  if ("failed" in reply) {
    // A 4xx that is not the endpoint's own, such as a router's 404, changed nothing either.
    const status = reply.status ?? 0;
    const isRefused = reply.isUnasked === true || (status >= 400 && status < 500);
    return { answer: noAnswer, unanswered: isRefused ? "refused" : "unknown" };
  }
  return reply.answer.status >= 500 ? { answer: reply.answer, unanswered: "unknown" } : { answer: reply.answer };
};
