import type { LegacyRequest, Unsent } from "../endpoint/legacyRequest.ts";
import { type Answer, answerOf, inputErrors } from "../outcome/answer.ts";
import type { InputReading } from "../endpoint/input.ts";
import type { Machine } from "./machine.ts";
import type { Prepared } from "./prepared.ts";

/** What a request comes to: an answer that the input settles by itself, or a question; what legacy cannot be asked may still be asked of modern. */
export type Plan = { settled: Answer } | Asking;
export type Asking = { request: LegacyRequest | Unsent; input: Record<string, unknown> };

export const planOf = ({ knowledge }: Machine, endpoint: Prepared, reading: InputReading | Answer): Plan => {
  if ("status" in reading) return { settled: reading };
  if ("errors" in reading) return { settled: inputErrors(reading.errors) };
  const { input, possible } = reading;
  const settled = (!possible && endpoint.absent) || endpoint.foresee?.(input, knowledge);
  return settled ? { settled: answerOf(settled) } : { request: endpoint.legacy(input), input };
};
