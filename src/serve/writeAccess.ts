import type { Caller } from "../legacy/client.ts";
import { type Answer, answerOf } from "../endpoint/answer.ts";
import { outcomeOf } from "../legacy/reading.ts";
import type { OutcomeKind } from "../endpoint/outcome.ts";
import { fetchReadable, noAnswer } from "./answering.ts";
import type { Services } from "./services.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** Milliseconds for which an answer that is kept for a caller shows what the caller may read. */
const ENOUGH = 60_000;

/** What a read may end with and still leave the write to legacy: it grants access, or there is nothing that could be private. */
const passes: ReadonlySet<OutcomeKind> = new Set(["notFound", "badState", "refused", "gone", "conflict"]);

/**
 * Reads what a write is about with the caller's key, where the endpoint says that legacy itself does not look. Returns the refusal, or the failure
 * to find out; `undefined` where the write may be sent.
 */
export const refusedAccess = async (
  services: Services,
  { mustRead }: PreparedEndpoint,
  input: Record<string, unknown>,
  caller: Caller,
): Promise<Answer | undefined> => {
  if (mustRead === undefined) return undefined;
  const { endpoint } = mustRead;
  const asked = mustRead.inputOf(input);
  if (isShown(services, endpoint, asked, caller.key)) return undefined;
  const request = endpoint.legacy(asked);
  if ("unsent" in request) return answerOf({ kind: "broken", message: request.unsent });
  const reply = await fetchReadable(services, endpoint, request, caller);
  if ("failed" in reply) return answerOf(reply.failed);
  const { reading, status } = reply;
  if (reading.is === "document" && status === 200) return undefined;
  if (reading.is !== "error") return answerOf(noAnswer);
  const outcome = endpoint.errors?.[reading.code] ?? outcomeOf(reading, services.errors);
  return passes.has(outcome.kind) ? undefined : answerOf(outcome);
};

/** It was shown to this caller, or to everybody, a moment ago. */
const isShown = (
  { keys, cache }: Services,
  { cacheKey: question }: PreparedEndpoint,
  input: Record<string, unknown>,
  key: string | undefined,
): boolean => {
  const owner = key === undefined ? undefined : keys.ownerOf(key);
  if (question === undefined || owner === undefined || !keys.isProven(owner)) return false;
  const asking = { question: question(input, "legacy"), owner, wanted: { maxAge: ENOUGH } };
  return cache.ready(asking, Date.now())?.status === 200;
};
