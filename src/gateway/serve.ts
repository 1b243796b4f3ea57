import { bounded } from "../bounded.ts";
import type { Filled, Question } from "../cache/question.ts";
import type { Directives } from "../cache/directives.ts";
import { type Answered, groupList } from "../cache/reply.ts";
import { plainly } from "../cache/representation.ts";
import type { LegacyRequest } from "../endpoint/legacyRequest.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import type { Caller } from "../legacy/client.ts";
import type { Json } from "../rules/rule.ts";
import { type Answer, answerOf, inputErrors } from "./answer.ts";
import { conclude, type Conclusion } from "./answering.ts";
import type { Credential } from "./credential.ts";
import type { InputReading } from "./input.ts";
import type { Machine } from "./machine.ts";
import type { Prepared } from "./prepared.ts";

/** One request, read: who asks, for what. The input is an answer where the body could not even be read. */
export type Asked = {
  credential: Credential;
  input: InputReading | Answer;
  /** How it wants to be answered. */
  wanted: Directives;
  /** Sent along to legacy: Forwarded, Via, ... as flat names and values. */
  headers: string[];
};

/** The answer, and the question it answers where that may be asked of the cache. */
export type Served = { answered: Answered; question?: Question };

const unauthenticated: Outcome = { kind: "unauthenticated", code: "103", message: "Authentication failed" };

const late: Outcome = { kind: "tooSlow", message: "The legacy interface took too long to answer." };

/** Where the answer to a write is lost, it may still be going on for so many milliseconds. */
export const UNSETTLED = 30_000;

/** Credential, access, input, data: in this order, so that no error says more than the caller may know. */
export const serve = async (
  machine: Machine,
  endpoint: Prepared,
  { credential, input, wanted, headers }: Asked,
): Promise<Served> => {
  const { key } = credential;
  const writes = endpoint.writes !== undefined;
  if (credential.refused || (writes && key === undefined)) return unasked(answerOf(unauthenticated));
  const caller = (): Caller & { spent: { calls: number; ms: number } } => ({
    headers,
    deadline: Date.now() + machine.totalTimeout,
    spent: { calls: 0, ms: 0 },
    ...(key === undefined ? {} : { key }),
  });
  const first = caller();
  const verified = async (): Promise<Answer | undefined> => {
    if (key === undefined) return undefined;
    // Others may wait for the same answer: the question has its own deadline, and nobody waits past theirs.
    const left = Math.max(1, first.deadline - Date.now());
    const refusal = await bounded(machine.keys.verify({ ...caller(), key }, writes), left);
    return refusal && answerOf(refusal === "late" ? late : refusal);
  };

  const plan = planOf(machine, endpoint, input);
  if ("settled" in plan) return unasked((await verified()) ?? plan.settled);
  const { request } = plan;
  if (writes) return write(machine, endpoint, plan, first);

  const question = endpoint.question?.(plan.input);
  const ask = async (as: Caller): Promise<Filled> => {
    const concluding = request.method === "POST" ? concludeByPost : conclude;
    const conclusion = await concluding(machine, endpoint, request, as, plan.input);
    const ours = "ours" in conclusion ? (conclusion.ours as Json) : undefined;
    return { answer: answerFrom(conclusion), groups: endpoint.cache?.groups(plan.input, ours) ?? [] };
  };
  if (question === undefined) return { answered: notKept((await ask(first)).answer, "bypass") };
  const owner = key === undefined ? undefined : machine.keys.ownerOf(key);
  const answered = await machine.cache.answer(
    { question, owner, wanted },
    (as, background) => {
      const one = background ? caller() : first;
      const { key: _, ...nobody } = one;
      return ask(as === undefined ? nobody : one);
    },
    verified,
  );
  const { calls, ms } = first.spent;
  return { answered: calls > 0 ? { ...answered, upstream: ms } : answered, question };
};

const unasked = (answer: Answer): Served => ({ answered: notKept(answer) });

const notKept = (answer: Answer, fwd?: "method" | "bypass"): Answered => ({
  representation: plainly(answer),
  cacheable: false,
  how: fwd === undefined ? { detail: "settled" } : { fwd },
});

const answerFrom = (conclusion: Conclusion): Answer =>
  "ours" in conclusion
    ? { status: 200, body: JSON.stringify(conclusion.ours) }
    : answerOf(conclusion.outcome, conclusion.status);

/** Whatever came of a write by one who may write, what it may have touched is served no more when its answer goes out. */
const write = async (machine: Machine, endpoint: Prepared, plan: Asking, caller: Caller): Promise<Served> => {
  const groups = endpoint.writes?.(plan.input) ?? [];
  const conclusion = await conclude(machine, endpoint, plan.request, caller, plan.input);
  const answer = answerFrom(conclusion);
  // Else anybody could empty the cache.
  if (answer.status === 401 || answer.status === 403) return { answered: notKept(answer, "method") };
  await machine.cache.drop({ groups, ...(answer.status >= 500 ? { hold: UNSETTLED } : {}) });
  const answered = notKept(answer, "method");
  return {
    answered:
      answer.status === 200 ? { ...answered, headers: ["Cache-Group-Invalidation", groupList(groups)] } : answered,
  };
};

type Asking = { request: LegacyRequest; input: Record<string, unknown> };
type Plan = { settled: Answer } | Asking;
/** What the input settles by itself, or what legacy is to be asked. */
const planOf = ({ knowledge }: Machine, endpoint: Prepared, reading: InputReading | Answer): Plan => {
  if ("status" in reading) return { settled: reading };
  if ("errors" in reading) return { settled: inputErrors(reading.errors) };
  const { input, possible } = reading;
  const settled = (!possible && endpoint.absent) || endpoint.foresee?.(input, knowledge);
  if (settled) return { settled: answerOf(settled) };
  const request = endpoint.legacy(input);
  return "unsent" in request ? { settled: answerOf({ kind: "broken", message: request.unsent }) } : { request, input };
};

/** Legacy answers some questions only by POST, and a POST only with a key that may write. */
const concludeByPost: typeof conclude = async (machine, endpoint, request, caller, input): Promise<Conclusion> => {
  const refuse = (why: string): Conclusion => ({ outcome: { ...unauthenticated, additional: why } });
  const key = caller.key ?? machine.serviceKey;
  if (key === undefined) return refuse("The legacy interface answers this only with a key.");
  const conclusion = await conclude(machine, endpoint, request, { ...caller, key }, input);
  const kind = "outcome" in conclusion ? conclusion.outcome.kind : undefined;
  if (kind !== "forbidden" && kind !== "unauthenticated") return conclusion;
  if (caller.key === undefined) {
    machine.observer.event("service_key_refused", { endpoint: endpoint.name });
    return refuse("The legacy interface answers this only with a key, and refused the gateway's own.");
  }
  return kind === "forbidden"
    ? refuse("The legacy interface answers this only with a key that may write.")
    : conclusion;
};
