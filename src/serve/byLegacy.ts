import type { Fetched } from "../cache/cacheRequest.ts";
import type { LegacyRequest } from "../endpoint/legacyRequest.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import type { Caller } from "../legacy/client.ts";
import { type Answer, answerOf } from "../endpoint/answer.ts";
import { fetchAnswer, type LegacyResult, type Unanswered } from "./answering.ts";
import type { Services } from "./services.ts";
import type { PlannedRequest } from "./plan.ts";
import type { PreparedEndpoint } from "./prepared.ts";

export const unauthenticated: Outcome = { kind: "unauthenticated", code: "103", message: "Authentication failed" };

/** Legacy's answer to one question, through the rules, with the groups it belongs to. */
export const askLegacy = async (
  services: Services,
  endpoint: PreparedEndpoint,
  { request, input }: PlannedRequest,
  caller: Caller,
): Promise<Fetched & { unanswered?: Unanswered }> => {
  if ("unsent" in request)
    return { answer: answerOf({ kind: "broken", message: request.unsent }), groups: [], unanswered: "refused" };
  const concluding = request.method === "POST" && endpoint.writes === undefined ? concludeByPost : fetchAnswer;
  const started = performance.now();
  const conclusion = await concluding(services, endpoint, request, caller, input);
  // Of the document only the excerpt is at hand here: a large one was made in another thread.
  const ours = "written" in conclusion ? conclusion.written.excerpt : undefined;
  services.privateRows?.feed.answered(
    endpoint.name,
    input,
    "outcome" in conclusion ? conclusion.outcome : { ours: conclusion.written.excerpt },
    caller.key !== undefined,
  );
  const answer = answerFrom(conclusion);
  services.migration.track(endpoint.name).asked("legacy", performance.now() - started, answer.status >= 500);
  const groups = endpoint.cache?.groups(input, ours) ?? [];
  return "outcome" in conclusion && conclusion.unanswered
    ? { answer, groups, unanswered: conclusion.unanswered }
    : { answer, groups };
};

export const answerFrom = (conclusion: LegacyResult): Answer => {
  if ("outcome" in conclusion) return answerOf(conclusion.outcome, conclusion.status);
  const { body, tag } = conclusion.written;
  return { status: 200, body, ...(tag === undefined ? {} : { tag }) };
};

/** Legacy answers some questions only by POST, and a POST only with a key that may write. */
const concludeByPost = async (
  services: Services,
  endpoint: PreparedEndpoint,
  request: LegacyRequest,
  caller: Caller,
  input: Record<string, unknown>,
): Promise<LegacyResult> => {
  const refuse = (why: string): LegacyResult => ({ outcome: { ...unauthenticated, additional: why } });
  const key = caller.key ?? services.serviceKey;
  if (key === undefined) return refuse("The legacy interface answers this only with a key.");
  const conclusion = await fetchAnswer(services, endpoint, request, { ...caller, key }, input);
  const kind = "outcome" in conclusion ? conclusion.outcome.kind : undefined;
  if (kind !== "forbidden" && kind !== "unauthenticated") return conclusion;
  if (caller.key === undefined) {
    services.observer.event("service_key_refused", { endpoint: endpoint.name });
    return refuse("The legacy interface answers this only with a key, and refused the gateway's own.");
  }
  return kind === "forbidden"
    ? refuse("The legacy interface answers this only with a key that may write.")
    : conclusion;
};
