import type { InputError } from "../../catalogue/index.ts";
import { parseAccept } from "hono/utils/accept";
import { truncate } from "../../operation/index.ts";
import { isBelow } from "./requestTarget.ts";

const PROBLEM_TYPE = "application/problem+json";

/** A type of problem: the fragment of its `type` URI, its `title`, and what a client can do. */
type ProblemType = { slug: string; title: string; about: string };

const problemType = (slug: string, title: string, about: string): ProblemType => ({ slug, title, about });

/** The types of problems, by status; `other`: any other status of an error. */
export const problemTypes: Readonly<Record<number | "other", ProblemType>> = {
  400: problemType(
    "bad-request",
    "The request is malformed",
    "Its target or its headers break HTTP. Send it again only after a change.",
  ),
  401: problemType(
    "unauthenticated",
    "Authentication failed",
    "A key is missing, unknown or malformed. Send a valid one, as `Authorization: Bearer KEY`, `X-API-Key: KEY` or `?api_key=KEY`.",
  ),
  403: problemType(
    "forbidden",
    "The caller may not do this",
    "The key is valid, but its account may not see the resource or change it.",
  ),
  404: problemType(
    "not-found",
    "There is no such resource",
    "No resource has this path or identifier, or no row matches the filters.",
  ),
  405: problemType(
    "method-not-allowed",
    "The resource does not have this method",
    "The `Allow` header lists the methods that it has.",
  ),
  408: problemType("request-timeout", "The request took too long to come", "Its body came too slowly. Send it again."),
  409: problemType("conflict", "It exists already", "What the request would make is there already."),
  410: problemType("gone", "It is no longer supported", "The resource was given up and has no replacement."),
  412: problemType(
    "precondition-failed",
    "The state of the resource does not allow this",
    "The resource is in use, not processed yet, or in another status.",
  ),
  413: problemType("content-too-large", "The body is too large", "The message says how many bytes are allowed."),
  415: problemType(
    "unsupported-media-type",
    "The body is not JSON",
    "Send `application/json`, without a Content-Encoding.",
  ),
  417: problemType("expectation-failed", "The `Expect` header is not understood", "Only `100-continue` is."),
  422: problemType(
    "invalid-input",
    "The input is not valid",
    "`errors` names each wrong field: `loc` is its place, `msg` what is allowed.",
  ),
  429: problemType("too-many-requests", "Too many requests", "The `Retry-After` header says how many seconds to wait."),
  431: problemType("headers-too-large", "The headers are too large", "Send fewer or shorter ones."),
  500: problemType(
    "internal-error",
    "The gateway failed",
    "This is a mistake of the gateway. Report it with the `X-Request-Id` of the answer.",
  ),
  501: problemType("not-implemented", "This is not supported", "The message says what is not supported."),
  502: problemType(
    "bad-gateway",
    "The catalogue gave no usable answer",
    "The server behind the gateway failed, or its answer could not be read. A read may be sent again.",
  ),
  503: problemType(
    "unavailable",
    "The catalogue cannot answer now",
    "The `Retry-After` header says how many seconds to wait.",
  ),
  504: problemType(
    "gateway-timeout",
    "The catalogue took too long",
    "A read may be sent again. Whether a write was made is unknown.",
  ),
  other: problemType("error", "The request failed", "The message says why."),
};

const problemTypeOf = (status: number): ProblemType => problemTypes[status] ?? problemTypes.other;

/**
 * A format of errors other than `{"detail": ...}`: its media type, and a function that converts the bytes of
 * `{"detail": ...}`.
 */
type ErrorFormat = { type: string; bytes: (status: number, body: Buffer) => Buffer };

/**
 * Finds the format of a request's errors by its `Accept` and its path. `undefined`: `{"detail": ...}`, as for all paths
 * that are below no prefix.
 */
export type ErrorFormats = (accept: string | undefined, path: string) => ErrorFormat | undefined;

/** Opens the formats of errors: problems below these prefixes, for clients that prefer problems. */
export const openErrorFormats = (prefixes: readonly string[]): ErrorFormats => {
  const formats = prefixes
    .map((prefix) => ({
      prefix,
      format: { type: PROBLEM_TYPE, bytes: problemBytes(prefix === "/" ? "" : prefix) },
    }))
    // The longest prefix comes first: all paths are below "/".
    .toSorted((a, b) => b.prefix.length - a.prefix.length);
  return (accept, path) => {
    if (!prefersProblem(accept)) return undefined;
    return formats.find(({ prefix }) => prefix === "/" || isBelow(path, prefix))?.format;
  };
};

type Coded = { code: string; message: string; additional_information?: string };
type Detail = string | Coded | InputError[];

/** The default body of an error. */
export type ErrorBody = { detail: Detail };

/**
 * The same error as a problem of RFC 9457. `base`: the prefix of the request, "" for "/"; the page of all problem types
 * is below it.
 */
export const problemOf = (status: number, { detail }: ErrorBody, base: string) => {
  const { slug, title } = problemTypeOf(status);
  return { type: `${base}/problems#${slug}`, title, status, ...membersOf(detail) };
};

const problemBytes =
  (base: string): ErrorFormat["bytes"] =>
  (status, body) =>
    Buffer.from(JSON.stringify(problemOf(status, JSON.parse(body.toString()) as ErrorBody, base)));

/** Characters of the sentence that sums up the errors of an input; `errors` has them all. */
const MAX_SUMMARY = 1000;

const membersOf = (detail: Detail) => {
  if (typeof detail === "string") return { detail };
  if (Array.isArray(detail)) {
    const summary = detail.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
    return { detail: truncate(summary, MAX_SUMMARY), errors: detail };
  }
  const { message, ...rest } = detail;
  return { detail: message, ...rest };
};

/**
 * True if a client prefers problems to `{"detail": ...}`, by the q-values of its `Accept` (RFC 9110, 12.5.1). If both
 * have the same q-value, it prefers problems if `Accept` names them.
 */
const prefersProblem = (accept: string | undefined): boolean => {
  // With a wildcard only, both have the same q-value.
  if (accept === undefined || !/problem\+json|application\/json/i.test(accept)) return false;
  const ranges = parseAccept(accept).map(({ type, q }) => ({ type: type.toLowerCase(), q }));
  const quality = (type: string) =>
    [type, "application/*", "*/*"]
      .map((name) => ranges.find((range) => range.type === name)?.q)
      .find((q) => q !== undefined) ?? 0;
  const [problem, detail] = [quality(PROBLEM_TYPE), quality("application/json")];
  return problem > detail || (problem === detail && problem > 0 && ranges.some(({ type }) => type === PROBLEM_TYPE));
};
