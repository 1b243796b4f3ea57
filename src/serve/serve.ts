import { withTimeout } from "../concurrency/withTimeout.ts";
import type { CacheKey } from "../cache/cacheRequest.ts";
import type { Directives } from "../cache/directives.ts";
import type { Answered } from "../cache/reply.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import type { Caller } from "../legacy/client.ts";
import { type Bucketing, decisionHeader } from "../features/migration/decide.ts";
import { type Answer, answerOf } from "../endpoint/answer.ts";
import { askLegacy, unauthenticated } from "./byLegacy.ts";
import { readByModern } from "./byModern.ts";
import type { Credential } from "../http/credential.ts";
import type { InputReading } from "../endpoint/input.ts";
import type { Services } from "./services.ts";
import { mirrored } from "./mirroring.ts";
import { askWith, mergedQuestion, missingRows } from "./privateRowsAdded.ts";
import { planOf } from "./plan.ts";
import type { PreparedEndpoint } from "./prepared.ts";
import { uncached } from "./uncached.ts";
import { write } from "./write.ts";

/** One request, read: who asks, for what. The input is an answer where the body could not even be read. */
export type RequestInput = {
  credential: Credential;
  input: InputReading | Answer;
  /** How it wants to be answered. */
  wanted: Directives;
  /** Sent along to legacy: Forwarded, Via, ... as flat names and values. */
  headers: string[];
  /** The address that it came from. */
  client: string;
  /** Whom callers are shared out by, and the side the request names. */
  asker: Bucketing;
  /** Fires when the client is gone. */
  leaving?: AbortSignal;
};

/** The answer, the question it answers where that may be asked of the cache, and what is to be done once it has gone out. */
export type Served = {
  answered: Answered;
  question?: CacheKey;
  afterwards?: () => void;
  /** Another caller may see the other side: nobody on the way may give it to them. */
  isDivided?: boolean;
};

const late: Outcome = { kind: "tooSlow", message: "The legacy interface took too long to answer." };

/** A list is made anew while what belongs into it changes, so many times at most. */
const MAX_TRIES = 3;

/** Credential, access, input, data: in this order, so that no error says more than the caller may know. */
export const serve = async (
  services: Services,
  endpoint: PreparedEndpoint,
  { credential, input, wanted, headers, client, asker, leaving }: RequestInput,
): Promise<Served> => {
  const { key } = credential;
  const { migration } = services;
  const writes = endpoint.writes !== undefined;
  const track = migration.track(endpoint.name);
  const unasked = (answer: Answer, reason: string): Served => {
    track.answered(false);
    const { stage } = migration.stageOf(endpoint.name);
    return { answered: { ...uncached(answer), decision: decisionHeader({ stage, backend: "gateway", reason }) } };
  };
  if (credential.refused || (writes && key === undefined)) return unasked(answerOf(unauthenticated), "credential");
  const caller = (): Caller & { spent: { calls: number; ms: number } } => ({
    headers,
    client,
    deadline: Date.now() + services.totalTimeout,
    spent: { calls: 0, ms: 0 },
    ...(key === undefined ? {} : { key }),
  });
  const first = { ...caller(), ...(leaving ? { leaving } : {}) };
  const verified = async (): Promise<Answer | undefined> => {
    if (key === undefined) return undefined;
    // Others may wait for the same answer: the question has its own deadline, and nobody waits past theirs.
    const left = Math.max(1, first.deadline - Date.now());
    const refusal = await withTimeout(services.keys.verify({ ...caller(), key }, writes), left);
    return refusal && answerOf(refusal === "late" ? late : refusal);
  };

  const plan = planOf(services, endpoint, input);
  if ("settled" in plan) return unasked((await verified()) ?? plan.settled, "input");
  let decision = migration.decide(endpoint.name, asker);
  if (writes) {
    const answered = await write(services, endpoint, plan, first, decision);
    track.answered(false);
    return { answered: { ...answered, decision: decisionHeader(decision) } };
  }

  const byModern =
    decision.backend === "modern"
      ? await readByModern(services, endpoint, { input: plan.input, wanted, caller: first })
      : undefined;
  if (decision.backend === "modern" && byModern === undefined)
    decision = { ...decision, backend: "legacy", reason: "fallback" };

  const byLegacy = async (tries = 1): Promise<Pick<Served, "answered" | "question"> & { isIncomplete?: boolean }> => {
    if ("unsent" in plan.request)
      return { answered: uncached((await verified()) ?? (await askLegacy(services, endpoint, plan, first)).answer) };
    const missing = await missingRows(services, endpoint, plan.input, first);
    if (missing === "refused") return { answered: uncached(answerOf(unauthenticated)) };
    const usual = endpoint.cacheKey?.(plan.input, "legacy");
    const question = usual && typeof missing === "object" ? mergedQuestion(usual, missing) : usual;
    const owner = key === undefined ? undefined : services.keys.ownerOf(key);
    const answered =
      question === undefined
        ? uncached((await askWith(services, endpoint, plan, first, missing, wanted)).answer, "bypass")
        : await services.cache.answer(
            { cacheKey: question, owner, wanted },
            (as, background) => {
              const one = background ? caller() : first;
              const { key: _, ...nobody } = one;
              return askWith(services, endpoint, plan, as === undefined ? nobody : one, missing, wanted);
            },
            verified,
          );
    const isOutdated = services.privateRows?.missing.isOutdated(plan.input, missing) ?? false;
    if (isOutdated && tries < MAX_TRIES) return byLegacy(tries + 1);
    const { status } = "entry" in answered ? answered.entry : answered.representation;
    const { calls, ms } = first.spent;
    const mayLackRows = isOutdated || missing === "incomplete" || (typeof missing === "object" && missing.isIncomplete);
    return {
      answered: calls > 0 ? { ...answered, upstream: ms } : answered,
      // Who it is for is not told by its path.
      ...(question === undefined || typeof missing === "object" ? {} : { question }),
      // No other answer is a list, be it an empty one.
      isIncomplete: mayLackRows && (status === 200 || status === 404),
    };
  };

  const { isIncomplete = false, ...served } =
    byModern === undefined ? await byLegacy() : { answered: byModern, isIncomplete: false };
  if (isIncomplete) services.meter.incomplete();
  track.answered(served.answered.how.hit === true);
  if (decision.stage !== "legacy") services.meter.decided(endpoint.name, decision.backend, decision.reason);
  const { backend } = decision;
  return {
    ...served,
    isDivided: decision.stage === "canary" || decision.reason === "forced",
    answered: { ...served.answered, decision: decisionHeader(decision, isIncomplete) },
    // What is incomplete on this side says nothing of the other.
    ...(decision.stage !== "legacy" && !isIncomplete
      ? {
          afterwards: () =>
            migration.mirror(endpoint.name, () =>
              mirrored(services, endpoint, { plan, key, headers, answered: served.answered, backend }),
            ),
        }
      : {}),
  };
};
