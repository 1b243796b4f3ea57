import {
  type Answer,
  answerOf,
  type Endpoint,
  type ErrorTable,
  isObject,
  type Json,
  type JsonObject,
  type Outcome,
  outcomeOf,
} from "../../src/catalogue/index.ts";
import { mediaTypeOf } from "../../src/gateway/index.ts";

/** An answer of modern as it came, served or not. `isOfGateway`: another gateway answered. */
export type ModernAnswer = { status: number; contentType: string; text: string; isOfGateway: boolean };

/**
 * The answer that is served for a 4xx of modern, if it is an outcome of the endpoint; `undefined` for any other 4xx,
 * such as a router's 404 or a proxy's page. A problem (RFC 9457) is served in our format.
 */
export const errorAnswer = (
  endpoint: Endpoint,
  errors: ErrorTable,
  { status, contentType, text }: Omit<ModernAnswer, "isOfGateway">,
  document: Json,
): Answer | undefined => {
  if (!isObject(document)) return undefined;
  const type = mediaTypeOf(contentType);
  if (type === "application/problem+json") {
    const outcome = outcomeOfProblem(endpoint, errors, document);
    return outcome && withStatus(outcome, status);
  }
  if (type !== "application/json") return undefined;
  const outcome = outcomeOfDetail(endpoint, errors, document["detail"]);
  const answer = outcome && withStatus(outcome, status);
  if (answer) return { ...answer, body: text };
  return status === 422 && isListOfInputErrors(document["detail"]) ? { status, body: text } : undefined;
};

/** `undefined` if the status differs: modern then uses the code for another error. */
const withStatus = (outcome: Outcome, status: number): Answer | undefined => {
  const answer = answerOf(outcome);
  return answer.status === status ? answer : undefined;
};

const outcomeOfProblem = (endpoint: Endpoint, errors: ErrorTable, { code, type }: JsonObject): Outcome | undefined => {
  const coded = outcomeOfCode(endpoint, errors, code);
  if (coded || typeof type !== "string") return coded;
  // The type is the path of a page, or an anchor in a page.
  const [slug = ""] = /[^/#]*$/.exec(type) ?? [];
  const problems = endpoint.modern?.problems ?? {};
  return Object.hasOwn(problems, slug) ? problems[slug] : undefined;
};

const outcomeOfDetail = (endpoint: Endpoint, errors: ErrorTable, detail: Json | undefined): Outcome | undefined => {
  if (typeof detail === "string")
    return plainOutcomes(endpoint).find(({ code, message }) => code === undefined && message === detail);
  return isObject(detail) && typeof detail["code"] === "string" && typeof detail["message"] === "string"
    ? outcomeOfCode(endpoint, errors, detail["code"])
    : undefined;
};

const plainOutcomes = ({ notFound: absent, errors = {}, modern }: Endpoint): Outcome[] => [
  ...(absent ? [absent] : []),
  ...Object.values(errors),
  ...Object.values(modern?.problems ?? {}),
];

const outcomeOfCode = (endpoint: Endpoint, errors: ErrorTable, given: Json | undefined): Outcome | undefined => {
  if ((typeof given !== "string" && typeof given !== "number") || !/^\d{1,5}$/.test(`${given}`)) return undefined;
  const code = Number(given);
  const row = errors.get(code);
  const outcome = endpoint.errors?.[code] ?? (row && outcomeOf({ is: "error", code, message: row.message }, errors));
  return outcome && (!isOfOneEndpoint(outcome) || ownCodes(endpoint).has(code)) ? outcome : undefined;
};

/**
 * True for errors that depend on the endpoint: they name a resource that does not exist, or exists already. Errors
 * about credentials, rights, inputs and states mean the same at all endpoints.
 */
const isOfOneEndpoint = ({ kind }: Outcome): boolean => kind === "notFound" || kind === "conflict" || kind === "gone";

const ownCodes = ({
  notFound: absent,
  errors = {},
  modern: { codes = [], problems = {} } = {},
}: Endpoint): Set<number> =>
  new Set([
    ...Object.keys(errors).map(Number),
    ...[absent, ...Object.values(problems)].flatMap((outcome) =>
      outcome?.code === undefined ? [] : Number(outcome.code),
    ),
    ...codes,
  ]);

/** `[{"loc": ["body", "limit"], "msg": "…", "type": "…"}]` */
const isListOfInputErrors = (detail: Json | undefined): boolean =>
  Array.isArray(detail) &&
  detail.length > 0 &&
  detail.every(
    (error) =>
      isObject(error) &&
      Array.isArray(error["loc"]) &&
      typeof error["msg"] === "string" &&
      typeof error["type"] === "string",
  );
