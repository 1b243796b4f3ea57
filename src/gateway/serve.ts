import { bounded } from "../bounded.ts";
import { mergedKey } from "../cache/cacheKey.ts";
import type { Question } from "../cache/question.ts";
import type { Directives } from "../cache/directives.ts";
import { type Answered, groupList } from "../cache/reply.ts";
import { plainly } from "../cache/representation.ts";
import type { Outcome } from "../outcome/outcome.ts";
import type { Caller } from "../legacy/client.ts";
import { type Asker, type Decision, decisionHeader } from "../migration/decide.ts";
import { type Answer, answerOf } from "../outcome/answer.ts";
import { askLegacy, unauthenticated } from "./byLegacy.ts";
import { readByModern, writeByModern } from "./byModern.ts";
import type { Credential } from "./credential.ts";
import type { InputReading } from "./input.ts";
import type { Machine } from "./machine.ts";
import { mirrored } from "./mirroring.ts";
import { askWith, lackingFor } from "./privateRowsAdded.ts";
import { type Asking, planOf } from "./plan.ts";
import type { Prepared } from "./prepared.ts";

/** One request, read: who asks, for what. The input is an answer where the body could not even be read. */
export type Asked = {
  credential: Credential;
  input: InputReading | Answer;
  /** How it wants to be answered. */
  wanted: Directives;
  /** Sent along to legacy: Forwarded, Via, ... as flat names and values. */
  headers: string[];
  /** The address that it came from. */
  client: string;
  /** Whom callers are shared out by, and the side the request names. */
  asker: Asker;
  /** Fires when the client is gone. */
  leaving?: AbortSignal;
};

/** The answer, the question it answers where that may be asked of the cache, and what is to be done once it has gone out. */
export type Served = {
  answered: Answered;
  question?: Question;
  afterwards?: () => void;
  /** Another caller may see the other side: nobody on the way may give it to them. */
  isDivided?: boolean;
};

const late: Outcome = { kind: "tooSlow", message: "The legacy interface took too long to answer." };

/** Where the answer to a write is lost, it may still be going on for so many milliseconds. */
export const UNSETTLED = 30_000;

/** Credential, access, input, data: in this order, so that no error says more than the caller may know. */
export const serve = async (
  machine: Machine,
  endpoint: Prepared,
  { credential, input, wanted, headers, client, asker, leaving }: Asked,
): Promise<Served> => {
  const { key } = credential;
  const { migration } = machine;
  const writes = endpoint.writes !== undefined;
  const track = migration.track(endpoint.name);
  const unasked = (answer: Answer, reason: string): Served => {
    track.answered(false);
    const { stage } = migration.stageOf(endpoint.name);
    return { answered: { ...notKept(answer), decision: decisionHeader({ stage, backend: "gateway", reason }) } };
  };
  if (credential.refused || (writes && key === undefined)) return unasked(answerOf(unauthenticated), "credential");
  const caller = (): Caller & { spent: { calls: number; ms: number } } => ({
    headers,
    client,
    deadline: Date.now() + machine.totalTimeout,
    spent: { calls: 0, ms: 0 },
    ...(key === undefined ? {} : { key }),
  });
  const first = { ...caller(), ...(leaving ? { leaving } : {}) };
  const verified = async (): Promise<Answer | undefined> => {
    if (key === undefined) return undefined;
    // Others may wait for the same answer: the question has its own deadline, and nobody waits past theirs.
    const left = Math.max(1, first.deadline - Date.now());
    const refusal = await bounded(machine.keys.verify({ ...caller(), key }, writes), left);
    return refusal && answerOf(refusal === "late" ? late : refusal);
  };

  const plan = planOf(machine, endpoint, input);
  if ("settled" in plan) return unasked((await verified()) ?? plan.settled, "input");
  let decision = migration.decide(endpoint.name, asker);
  if (writes) {
    const answered = await write(machine, endpoint, plan, first, decision);
    track.answered(false);
    return { answered: { ...answered, decision: decisionHeader(decision) } };
  }

  const byModern =
    decision.backend === "modern"
      ? await readByModern(machine, endpoint, { input: plan.input, wanted, caller: first })
      : undefined;
  if (decision.backend === "modern" && byModern === undefined)
    decision = { ...decision, backend: "legacy", reason: "fallback" };

  const byLegacy = async (): Promise<Pick<Served, "answered" | "question"> & { isIncomplete?: boolean }> => {
    if ("unsent" in plan.request)
      return { answered: notKept((await verified()) ?? (await askLegacy(machine, endpoint, plan, first)).answer) };
    const lacking = await lackingFor(machine, endpoint, plan.input, first);
    if (lacking === "refused") return { answered: notKept(answerOf(unauthenticated)) };
    const isIncomplete = lacking === "incomplete";
    const usual = endpoint.question?.(plan.input, "legacy");
    if (usual === undefined)
      return {
        answered: notKept((await askWith(machine, endpoint, plan, first, lacking)).answer, "bypass"),
        isIncomplete,
      };
    const isMerged = typeof lacking === "object";
    const question = isMerged ? { ...usual, key: mergedKey(usual.key, lacking.version) } : usual;
    const owner = key === undefined ? undefined : machine.keys.ownerOf(key);
    const answered = await machine.cache.answer(
      { question, owner, wanted },
      (as, background) => {
        const one = background ? caller() : first;
        const { key: _, ...nobody } = one;
        return askWith(machine, endpoint, plan, as === undefined ? nobody : one, lacking);
      },
      verified,
    );
    const { status } = "entry" in answered ? answered.entry : answered.representation;
    const { calls, ms } = first.spent;
    return {
      answered: calls > 0 ? { ...answered, upstream: ms } : answered,
      // Who it is for is not told by its path.
      ...(isMerged ? {} : { question }),
      // No other answer is a list, be it an empty one.
      isIncomplete: isIncomplete && (status === 200 || status === 404),
    };
  };

  const { isIncomplete = false, ...served } =
    byModern === undefined ? await byLegacy() : { answered: byModern, isIncomplete: false };
  if (isIncomplete) machine.meter.incomplete();
  track.answered(served.answered.how.hit === true);
  if (decision.stage !== "legacy") machine.meter.decided(endpoint.name, decision.backend, decision.reason);
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
              mirrored(machine, endpoint, { plan, key, headers, answered: served.answered, backend }),
            ),
        }
      : {}),
  };
};

const notKept = (answer: Answer, fwd?: "method" | "bypass"): Answered => ({
  representation: plainly(answer),
  cacheable: false,
  how: fwd === undefined ? { detail: "settled" } : { fwd },
});

/** Whatever came of a write by one who may write, what it may have touched is served no more when its answer goes out. */
const write = async (
  machine: Machine,
  endpoint: Prepared,
  plan: Asking,
  caller: Caller,
  { backend }: Decision,
): Promise<Answered> => {
  const groups = endpoint.writes?.(plan.input) ?? [];
  const answer =
    backend === "modern"
      ? await writeByModern(machine, endpoint, plan.input, caller)
      : (await askLegacy(machine, endpoint, plan, caller)).answer;
  // Else anybody could empty the cache.
  if (answer.status === 401 || answer.status === 403) return notKept(answer, "method");
  const isLost = answer.status >= 500;
  machine.privateRows?.feed.touched(groups, isLost);
  await machine.cache.drop({ groups, ...(isLost ? { hold: UNSETTLED } : {}) });
  const answered = notKept(answer, "method");
  return answer.status === 200 ? { ...answered, headers: ["Cache-Group-Invalidation", groupList(groups)] } : answered;
};
