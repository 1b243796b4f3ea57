import type { Caller } from "../legacy/client.ts";
import { type Answer, answerOf } from "../outcome/answer.ts";
import { outcomeOf } from "../outcome/legacyOutcome.ts";
import type { OutcomeKind } from "../outcome/outcome.ts";
import { askSound, noAnswer } from "./answering.ts";
import type { Machine } from "./machine.ts";
import type { Prepared } from "./prepared.ts";

/** Milliseconds for which an answer that is kept for a caller shows what the caller may read. */
const ENOUGH = 60_000;

/** What a read may end with and still leave the write to legacy: it grants access, or there is nothing that could be private. */
const passes: ReadonlySet<OutcomeKind> = new Set(["notFound", "badState", "refused", "gone", "conflict"]);

/**
 * Reads what a write is about with the caller's key, where the endpoint says that legacy itself does not look. Returns the refusal, or the failure
 * to find out; `undefined` where the write may be sent.
 */
export const refusedAccess = async (
  machine: Machine,
  { mustRead }: Prepared,
  input: Record<string, unknown>,
  caller: Caller,
): Promise<Answer | undefined> => {
  if (mustRead === undefined) return undefined;
  const { endpoint } = mustRead;
  const asked = mustRead.inputOf(input);
  if (isShown(machine, endpoint, asked, caller.key)) return undefined;
  const request = endpoint.legacy(asked);
  if ("unsent" in request) return answerOf({ kind: "broken", message: request.unsent });
  const reply = await askSound(machine, endpoint, request, caller);
  if ("failed" in reply) return answerOf(reply.failed);
  const { reading, status } = reply;
  if (reading.is === "document" && status === 200) return undefined;
  if (reading.is !== "error") return answerOf(noAnswer);
  const outcome = endpoint.errors?.[reading.code] ?? outcomeOf(reading, machine.errors);
  return passes.has(outcome.kind) ? undefined : answerOf(outcome);
};

/** It was shown to this caller, or to everybody, a moment ago. */
const isShown = (
  { keys, cache }: Machine,
  { question }: Prepared,
  input: Record<string, unknown>,
  key: string | undefined,
): boolean => {
  const owner = key === undefined ? undefined : keys.ownerOf(key);
  if (question === undefined || owner === undefined || !keys.isProven(owner)) return false;
  const asking = { question: question(input, "legacy"), owner, wanted: { maxAge: ENOUGH } };
  return cache.ready(asking, Date.now())?.status === 200;
};
