import type { GivenAnswer } from "../compare/answers.ts";
import type { Ledger } from "../compare/ledger.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { mediaTypeOf } from "../http/mediaType.ts";
import type { ErrorTable } from "../legacy/legacyOutcome.ts";
import { errorAnswer } from "./errorAnswer.ts";
import { firstUnexpected, misfitsOf } from "../compare/fits.ts";

/** A document comes as JSON, or is none. */
export const isJsonType = (contentType: string): boolean => mediaTypeOf(contentType) === "application/json";

export const notJsonType = (contentType: string): string =>
  contentType === ""
    ? "its answer has no content type"
    : `its answer is ${mediaTypeOf(contentType)}, not application/json`;
export const notJson = "its answer is no JSON";
export const doesNotFitAt = (place: string): string => `its answer does not fit at ${place}`;
export const notAnOutcome = (status: number): string => `its ${status} is no answer of this endpoint`;

/** Why such an answer of the new implementation would not be served; `undefined` where it would. */
export const whyUnserved = (
  endpoint: Endpoint & { name: string },
  { errors, ledger }: { errors: ErrorTable; ledger: Ledger },
  { status, contentType = "", body }: GivenAnswer,
): string | undefined => {
  if (status !== 200) {
    const isOutcome =
      status >= 400 &&
      status < 500 &&
      body !== undefined &&
      errorAnswer(endpoint, errors, { status, contentType, text: "" }, body) !== undefined;
    return isOutcome ? undefined : notAnOutcome(status);
  }
  if (!isJsonType(contentType)) return notJsonType(contentType);
  if (body === undefined) return notJson;
  const misfit = firstUnexpected(endpoint.name, ledger, misfitsOf(endpoint.output, body));
  return misfit === undefined ? undefined : doesNotFitAt(misfit);
};
