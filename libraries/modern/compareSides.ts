import type { GivenAnswer } from "../compare/answers.ts";
import { compareAnswers, type Origin } from "../compare/compareAnswers.ts";
import type { Difference } from "../compare/difference.ts";
import type { Ledger } from "../compare/ledger.ts";
import { type Endpoint, type ErrorTable, fitOfOurs } from "../../src/catalogue/index.ts";
import { mediaTypeOf } from "../../src/gateway/index.ts";
import { errorAnswer } from "./errorAnswer.ts";

/** Documents are JSON only. */
export const isJsonType = (contentType: string): boolean => mediaTypeOf(contentType) === "application/json";

/** The reasons why an answer of the new implementation is not served, in words for logs and reports. */
export const unservedReasons = {
  notJsonType: (contentType: string): string =>
    contentType === ""
      ? "its answer has no content type"
      : `its answer is ${mediaTypeOf(contentType)}, not application/json`,
  notJson: "its answer is no JSON",
  doesNotFit: ([place = ""]: readonly string[]): string => `its answer does not fit at ${place}`,
  notAnOutcome: (status: number): string => `its ${status} is no answer of this endpoint`,
};

/** A request, and what the answers to it are compared by. `origin`: where the expected values come from, if known. */
type ComparedRequest = {
  endpoint: Endpoint & { name: string };
  input: Record<string, unknown>;
  errors: ErrorTable;
  ledger: Ledger;
  origin?: Origin | undefined;
};

/** Compares the new implementation's answer to a request (`candidate`) with the expected one. */
export const compareSides = (
  { endpoint, input, errors, ledger, origin }: ComparedRequest,
  expected: GivenAnswer,
  candidate: GivenAnswer,
): Difference[] => {
  const { name, output } = endpoint;
  const whyNot = (answer: GivenAnswer) => whyUnserved(endpoint, errors, input, answer);
  return compareAnswers({ endpoint: name, output, ledger, origin, whyUnserved: whyNot }, expected, candidate);
};

/** The reason why such an answer of the new implementation would not be served; `undefined` if it would. */
const whyUnserved = (
  endpoint: Endpoint,
  errors: ErrorTable,
  input: Record<string, unknown>,
  { status, contentType = "", body }: GivenAnswer,
): string | undefined => {
  if (status !== 200) {
    const isOutcome =
      status >= 400 &&
      status < 500 &&
      body !== undefined &&
      errorAnswer(endpoint, errors, { status, contentType, text: "" }, body) !== undefined;
    return isOutcome ? undefined : unservedReasons.notAnOutcome(status);
  }
  if (!isJsonType(contentType)) return unservedReasons.notJsonType(contentType);
  if (body === undefined) return unservedReasons.notJson;
  const fit = fitOfOurs(endpoint, input, body);
  return "mismatch" in fit ? unservedReasons.doesNotFit(fit.mismatch) : undefined;
};
