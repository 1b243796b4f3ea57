import type { LegacyRequest } from "../endpoint/legacyRequest.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import type { Caller } from "../legacy/client.ts";
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
  /** Sent along to legacy: Forwarded, Via, ... as flat names and values. */
  headers: string[];
};

const unauthenticated: Outcome = { kind: "unauthenticated", code: "103", message: "Authentication failed" };

/** Credential, access, input, data: in this order, so that no error says more than the caller may know. */
export const serve = async (
  machine: Machine,
  endpoint: Prepared,
  { credential, input, headers }: Asked,
): Promise<Answer> => {
  const { key } = credential;
  const writes = endpoint.writes ?? false;
  if (credential.refused || (writes && key === undefined)) return answerOf(unauthenticated);
  const caller: Caller = {
    headers,
    deadline: Date.now() + machine.totalTimeout,
    ...(key === undefined ? {} : { key }),
  };

  const plan = planOf(machine, endpoint, input);
  if ("settled" in plan) {
    const refusal = key === undefined ? undefined : await machine.keys.verify({ ...caller, key }, writes);
    return refusal ? answerOf(refusal) : plan.settled;
  }
  const concluding = plan.request.method === "POST" && !writes ? concludeByPost : conclude;
  const conclusion = await concluding(machine, endpoint, plan.request, caller, plan.input);
  return "ours" in conclusion
    ? { status: 200, body: JSON.stringify(conclusion.ours) }
    : answerOf(conclusion.outcome, conclusion.status);
};

type Plan = { settled: Answer } | { request: LegacyRequest; input: Record<string, unknown> };

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
