import {
  type Answer,
  answerOf,
  collectChanges,
  type Endpoint,
  type ErrorTable,
  isObject,
  type Json,
  type JsonObject,
  type Outcome,
  fitOf,
  outcomeAt,
  ownStatusOf,
  pointerSteps,
} from "../../src/catalogue/index.ts";
import type { AnsweredExchange, GivenAnswer } from "./answers.ts";
import { collectDifferences } from "./collectDifferences.ts";
import { type Difference, differenceFormOf, isSame } from "./difference.ts";
import { changesByPlace, changesIn, explain, lookUp } from "./explain.ts";

/** The context that explains an answer. `input`: that of the request, as far as it is known. */
type Explaining = { endpoint: Endpoint; input?: Record<string, unknown>; errors: ErrorTable };

/**
 * Compares our answer with legacy's: lists every difference, with the rule that explains it. `exchange`: the last
 * exchange with legacy; `undefined` if no request was sent.
 */
export const explainAnswer = (
  explaining: Explaining,
  exchange: AnsweredExchange | undefined,
  ours: GivenAnswer,
): Difference[] => {
  if (exchange === undefined) return wholeAnswer(explainedBy("input"), undefined, ours);
  const { reading, status } = exchange;
  const legacy: GivenAnswer = { status, body: legacyBody(reading) };
  if (reading.is === "unreadable") return wholeAnswer({ kind: "unexplained" }, legacy, ours);
  if (reading.is === "error") return wholeAnswer(madeOfError(explaining, exchange, ours), legacy, ours);
  if (ours.status === 200 && status === 200) return explainDocument(explaining, reading.document, ours.body);
  return unfitDocument(explaining, reading.document, legacy, ours);
};

/** The content of legacy's answer: its document, its error, or the reason why it cannot be read. */
export const legacyBody = (reading: AnsweredExchange["reading"]): Json => {
  if (reading.is === "document") return reading.document;
  if (reading.is === "unreadable") return reading.why;
  const { code, message, additional } = reading;
  return {
    error: { code: String(code), message, ...(additional === undefined ? {} : { additional_information: additional }) },
  };
};

type Made = { kind: "explained" | "unexplained"; rule?: string };

const explainedBy = (rule: string): Made => ({ kind: "explained", rule });

/** The differences of an answer that is made as a whole: the status is one difference, the body another. */
const wholeAnswer = (made: Made, legacy: GivenAnswer | undefined, ours: GivenAnswer): Difference[] => {
  const { add, differences } = collectDifferences();
  if (legacy?.status !== ours.status)
    add({ path: "status", at: "status", form: "status", legacy: legacy?.status, expected: ours.status, ...made });
  const form = differenceFormOf(legacy?.body, ours.body);
  if (form) add({ path: "", at: "", form, legacy: legacy?.body, expected: ours.body, ...made });
  return differences();
};

/** The row of the table of errors that makes this answer from this error. */
const madeOfError = (
  { endpoint, errors }: Explaining,
  { request, status, reading }: AnsweredExchange,
  ours: GivenAnswer,
): Made => {
  if (reading.is !== "error") return { kind: "unexplained" };
  const outcome: Outcome = outcomeAt(endpoint, reading, errors);
  const rule = `error ${reading.code}: ${outcome.kind}`;
  // The table does not have the code, or legacy does not have the requested function: a person has to check it.
  if (outcome.kind === "unknown" || outcome.kind === "misasked") return { kind: "unexplained", rule };
  // A POST-only request of legacy needs a key that may write. Without a key the caller is not authenticated.
  const isUnauthenticated = request.method === "POST" && outcome.kind === "forbidden" && ours.status === 401;
  return {
    kind:
      isUnauthenticated || isAnswer(answerOf(outcome, ownStatusOf(outcome, status)), ours)
        ? "explained"
        : "unexplained",
    rule,
  };
};

const isAnswer = ({ status, body }: Answer, ours: GivenAnswer): boolean =>
  status === ours.status && isSame(JSON.parse(body.toString()) as Json, ours.body);

const explainDocument = ({ endpoint }: Explaining, legacy: JsonObject, ours: Json | undefined): Difference[] => {
  const { add, differences } = collectDifferences();
  explain(endpoint.output, legacy, ours, changesIn(endpoint.output, legacy), ({ path, at, steps }) => {
    for (const { form, rule, legacy: before, ours: after } of steps) {
      const made = rule === undefined ? ({ kind: "unexplained" } as const) : ({ kind: "explained", rule } as const);
      add({ path, at, form, legacy: before, expected: after, ...made });
    }
  });
  return differences();
};

/** For a legacy document that we did not answer with: it has an outcome, does not fit, or the reason is unknown. */
const unfitDocument = (
  { endpoint, input = {} }: Explaining,
  document: JsonObject,
  legacy: GivenAnswer,
  ours: GivenAnswer,
): Difference[] => {
  const { note, changes } = collectChanges();
  const fit = fitOf(endpoint, input, endpoint.output.read(document, note, document));
  if (!("mismatch" in fit)) {
    const isRejected = "outcome" in fit && isAnswer(answerOf(fit.outcome), ours);
    return wholeAnswer(isRejected ? explainedBy("rejectDocument") : { kind: "unexplained" }, legacy, ours);
  }
  const places = changesByPlace(changes);
  const { add, differences } = collectDifferences();
  const made = { kind: "unexplained", cause: "legacy's document does not fit" } as const;
  for (const mismatchAt of fit.mismatch) {
    const at = mismatchAt.slice(0, mismatchAt.lastIndexOf(": ")).replace(/^\/$/, "");
    const { legacy: value, rules } = lookUp(endpoint.output, document, places, pointerSteps(at));
    const rule = rules.join(" + ");
    const path = at.replaceAll(/\/\d+(?=\/|$)/g, "/*");
    add({
      path,
      at,
      form: "type",
      ...made,
      legacy: isObject(value) ? "an object" : value,
      ...(rule === "" ? {} : { rule }),
    });
  }
  add({ path: "status", at: "status", form: "status", ...made, legacy: legacy.status, expected: ours.status });
  return differences();
};
