import type { Filled } from "../cache/question.ts";
import type { LegacyRequest } from "../endpoint/legacyRequest.ts";
import type { Outcome } from "../outcome/outcome.ts";
import type { Caller } from "../legacy/client.ts";
import type { Json } from "../rules/rule.ts";
import { type Answer, answerOf } from "../outcome/answer.ts";
import { conclude, type Conclusion, type Unanswered } from "./answering.ts";
import type { Machine } from "./machine.ts";
import type { Asking } from "./plan.ts";
import type { Prepared } from "./prepared.ts";

export const unauthenticated: Outcome = { kind: "unauthenticated", code: "103", message: "Authentication failed" };

/** Legacy's answer to one question, through the rules, with the groups it belongs to. */
export const askLegacy = async (
  machine: Machine,
  endpoint: Prepared,
  { request, input }: Asking,
  caller: Caller,
): Promise<Filled & { unanswered?: Unanswered }> => {
  if ("unsent" in request)
    return { answer: answerOf({ kind: "broken", message: request.unsent }), groups: [], unanswered: "refused" };
  const concluding = request.method === "POST" && endpoint.writes === undefined ? concludeByPost : conclude;
  const started = performance.now();
  const conclusion = await concluding(machine, endpoint, request, caller, input);
  const ours = "ours" in conclusion ? (conclusion.ours as Json) : undefined;
  machine.privateRows?.feed.answered(
    endpoint.name,
    input,
    ours === undefined && "outcome" in conclusion ? conclusion.outcome : { ours: ours as Json },
    caller.key !== undefined,
  );
  const answer = answerFrom(conclusion);
  machine.migration.track(endpoint.name).asked("legacy", performance.now() - started, answer.status >= 500);
  const groups = endpoint.cache?.groups(input, ours) ?? [];
  return "outcome" in conclusion && conclusion.unanswered
    ? { answer, groups, unanswered: conclusion.unanswered }
    : { answer, groups };
};

export const answerFrom = (conclusion: Conclusion): Answer =>
  "ours" in conclusion
    ? { status: 200, body: JSON.stringify(conclusion.ours) }
    : answerOf(conclusion.outcome, conclusion.status);

/** Legacy answers some questions only by POST, and a POST only with a key that may write. */
const concludeByPost = async (
  machine: Machine,
  endpoint: Prepared,
  request: LegacyRequest,
  caller: Caller,
  input: Record<string, unknown>,
): Promise<Conclusion> => {
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
