import type { LegacyRequest, Unsent } from "../endpoint/legacyRequest.ts";
import { type Answer, answerOf, inputErrors } from "../endpoint/answer.ts";
import type { InputReading } from "../endpoint/input.ts";
import type { Services } from "./services.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** What a request comes to: an answer that the input settles by itself, or a question; what legacy cannot be asked may still be asked of modern. */
export type Plan = { settled: Answer } | PlannedRequest;
export type PlannedRequest = { request: LegacyRequest | Unsent; input: Record<string, unknown> };

export const planOf = ({ knowledge }: Services, endpoint: PreparedEndpoint, reading: InputReading | Answer): Plan => {
  if ("status" in reading) return { settled: reading };
  if ("errors" in reading) return { settled: inputErrors(reading.errors) };
  const { input, possible } = reading;
  const settled = (!possible && endpoint.notFound) || endpoint.rejectEarly?.(input, knowledge);
  return settled ? { settled: answerOf(settled) } : { request: endpoint.legacy(input), input };
};
