import type { Endpoint, Json } from "../../src/catalogue/index.ts";
import { mediaTypeOf } from "../../src/gateway/index.ts";
import type { GivenAnswer } from "./answers.ts";
import { collectDifferences } from "./collectDifferences.ts";
import { type ComparedPlace, differ } from "./differ.ts";
import { type Difference, type DifferenceForm, differenceFormOf, UNSERVED } from "./difference.ts";
import type { Ledger } from "./ledger.ts";

/** The largest answer, in bytes, that is compared while callers are served: a larger answer would delay them. */
export const MAX_COMPARED_BYTES = 1024 ** 2;

/**
 * The source of the expected value at a place (`Difference.at`): the legacy value there, and the rules that made the
 * expected value.
 */
export type Origin = (at: string) => { legacy?: Json; rules: string[] };

/** The rules by which two answers are compared. */
type Comparison = {
  endpoint: string;
  output: Endpoint["output"];
  ledger: Ledger;
  origin?: Origin | undefined;
  /** The reason why the gateway would not serve the candidate's answer; `undefined` if it would. */
  whyUnserved?: (candidate: GivenAnswer) => string | undefined;
};

/**
 * Compares a candidate's answer with the expected answer: status, content type, then the documents, field by field. An
 * answer that would not be served, such as a router's 404, is unexplained even if the ledger allows all its
 * differences.
 */
export const compareAnswers = (comparison: Comparison, expected: GivenAnswer, candidate: GivenAnswer): Difference[] => {
  const differences = differencesOf(comparison, expected, candidate);
  if (differences.length === 0 || expected.status >= 500) return differences;
  if (differences.some(({ kind }) => kind === "unexplained")) return differences;
  const why = comparison.whyUnserved?.(candidate);
  return why === undefined ? differences : [...differences, unserved(why)];
};

const unserved = (why: string): Difference => ({
  path: UNSERVED,
  at: UNSERVED,
  form: "value",
  kind: "unexplained",
  cause: "would not be served",
  candidate: why,
  count: 1,
});

const differencesOf = (
  { endpoint, output, ledger, origin }: Comparison,
  expected: GivenAnswer,
  candidate: GivenAnswer,
): Difference[] => {
  const { add, isFull, differences } = collectDifferences();
  const isError = expected.status >= 400;
  // An error and a document have no field in common: their statuses are the only cause.
  const isOther = isError !== candidate.status >= 400;
  // A candidate that writes errors differently does so in all their fields: these have the same cause.
  const cause = isOther
    ? `status ${candidate.status} in place of ${expected.status}`
    : isError
      ? `error ${expected.status}`
      : undefined;
  const addDifference = ({ allowedBy, ...difference }: Omit<ComparedPlace, "form"> & { form: DifferenceForm }) => {
    const traced = origin?.(difference.at);
    const rule = allowedBy ?? traced?.rules.join(" + ");
    const entry = allowedBy === undefined ? ledger.allowing(endpoint, difference) : undefined;
    add({
      ...difference,
      ...(entry || cause === undefined ? {} : { cause }),
      kind: allowedBy === undefined ? (entry ? "expected" : "unexplained") : "explained",
      ...(traced?.legacy === undefined ? {} : { legacy: traced.legacy }),
      ...(rule === undefined || rule === "" ? {} : { rule }),
      ...(entry ? { entry: entry.id } : {}),
    });
  };
  const outside = (
    path: string,
    form: DifferenceForm,
    expectedValue: Json | undefined,
    candidateValue: Json | undefined,
  ) => addDifference({ path, at: path, form, expected: expectedValue, candidate: candidateValue });

  if (expected.status !== candidate.status) outside("status", "status", expected.status, candidate.status);
  const types = [mediaType(expected), mediaType(candidate)] as const;
  if (differenceFormOf(...types)) outside("content-type", "value", ...types);
  if (candidate.body === undefined) outside("", "type", expected.body, candidate.text ?? "");
  else if (!isOther)
    differ(
      isError ? undefined : output,
      expected.body,
      candidate.body,
      ({ form, ...place }) => {
        if (form) addDifference({ ...place, form });
      },
      isFull,
    );
  return differences();
};

const mediaType = ({ contentType }: GivenAnswer): string | undefined =>
  contentType === undefined ? undefined : mediaTypeOf(contentType);
