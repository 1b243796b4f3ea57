import type { Outcome, OutcomeKind } from "./outcome.ts";
import type { InputError, Problem } from "./problem.ts";

/**
 * An answer before it is written. The body of a large answer is already bytes, with `tag`, their hash. `type`: its
 * media type if it is not JSON of ours.
 */
export type Answer = {
  status: number;
  /** The status that decides how it is stored, if that is another: legacy's 412 may stand for a 404. */
  judged?: number;
  body: string | Buffer;
  tag?: string;
  type?: string;
  headers?: Record<string, string>;
};

/** The status that decides how an answer is stored, and whether it counts as a failure. */
export const judgedStatus = ({ status, judged = status }: Answer): number => judged;

/**
 * The reason why an answer is for this caller only, so that others who wait for it send their own requests. `noRoom`:
 * there was no room or time for the request. `unasked`: the backend fails, and the request was not sent. `limited`: the
 * backend limits this caller's rate. The last two leave the time of the next refresh as it is.
 */
export type ForOne = "noRoom" | "unasked" | "limited";

const statuses: Record<OutcomeKind, number> = {
  unauthenticated: 401,
  noAccess: 403,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  gone: 410,
  refused: 422,
  badState: 412,
  unavailable: 503,
  broken: 502,
  tooSlow: 504,
  misasked: 502,
  unknown: 502,
};

/** Seconds that a client should wait when legacy cannot answer now. */
const RETRY_AFTER = "5";

const headersOf: Partial<Record<OutcomeKind, Record<string, string>>> = {
  unauthenticated: { "WWW-Authenticate": 'Bearer realm="catalogue"' },
  unavailable: { "Retry-After": RETRY_AFTER },
};

/** An answer whose detail is a plain text: it has no legacy code. */
export const plainAnswer = (status: number, detail: string, headers?: Record<string, string>): Answer => ({
  status,
  body: JSON.stringify({ detail }),
  ...(headers ? { headers } : {}),
});

/** The answer for an outcome; `status` replaces the status of its kind. */
export const answerOf = (outcome: Outcome, status = statuses[outcome.kind]): Answer => {
  const { kind, code, message, additional, errors, retryAfter } = outcome;
  if (errors) return inputErrors(errors);
  const detail =
    code === undefined
      ? message
      : { code, message, ...(additional === undefined ? {} : { additional_information: additional }) };
  const headers = retryAfter === undefined ? headersOf[kind] : { "Retry-After": String(retryAfter) };
  return { status, body: JSON.stringify({ detail }), ...(headers ? { headers } : {}) };
};

/** Most entries of a 422, and most characters of a name that a client sent. */
const MAX_ERRORS = 100;
const MAX_NAME = 64;

/** The problem at this place of the request; long names in the place are cut. */
export const inputError = (loc: (string | number)[], { at, msg, type }: Problem): InputError => ({
  loc: [...loc.map(shortened), ...at],
  msg,
  type,
});

/** Never cuts a surrogate pair in half. */
const shortened = (name: string | number): string | number =>
  typeof name === "string" && name.length > MAX_NAME ? name.slice(0, MAX_NAME).replace(/[\ud800-\udbff]$/, "") : name;

/**
 * Collects the errors of an input: lists the first `MAX_ERRORS`, then counts the rest. `more`: the number of errors
 * that are counted beforehand.
 */
export const collectErrors = (where: string, more = 0) => {
  const kept: InputError[] = [];
  let count = 0;
  return {
    add(loc: (string | number)[], problem: Problem): void {
      if (++count <= MAX_ERRORS) kept.push(inputError(loc, problem));
    },
    /** The last entry says how many more there are. */
    errors: (): InputError[] =>
      count + more <= MAX_ERRORS
        ? kept
        : [...kept, { loc: [where], msg: `and ${count + more - kept.length} more`, type: "value_error.more" }],
  };
};

/** The 422 with these errors. */
export const inputErrors = (detail: InputError[]): Answer => ({ status: 422, body: JSON.stringify({ detail }) });
