import type { Outcome, OutcomeKind } from "./outcome.ts";
import type { Problem } from "./problem.ts";

/** What leaves the gateway: always JSON. A large one is bytes already, with their `tag`. */
export type Answer = { status: number; body: string | Buffer; tag?: string; headers?: Record<string, string> };

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

/** How long a client had better wait for a legacy that cannot answer now, in seconds. */
const RETRY_AFTER = "5";

const headersOf: Partial<Record<OutcomeKind, Record<string, string>>> = {
  unauthenticated: { "WWW-Authenticate": 'Bearer realm="catalogue"' },
  unavailable: { "Retry-After": RETRY_AFTER },
};

/** An answer with a text for its detail: what no legacy code stands for. */
export const plainAnswer = (status: number, detail: string, headers?: Record<string, string>): Answer => ({
  status,
  body: JSON.stringify({ detail }),
  ...(headers ? { headers } : {}),
});

/** `status` stands in for the outcome's own where legacy's has to be kept. */
export const answerOf = ({ kind, code, message, additional }: Outcome, status = statuses[kind]): Answer => {
  const detail =
    code === undefined
      ? message
      : { code, message, ...(additional === undefined ? {} : { additional_information: additional }) };
  const headers = headersOf[kind];
  return { status, body: JSON.stringify({ detail }), ...(headers ? { headers } : {}) };
};

/** A problem with its whole place in the request. */
export type InputError = { loc: (string | number)[]; msg: string; type: string };

/** Entries of a 422, and characters of a name that a client made up. */
const MAX_ERRORS = 100;
const LONGEST_NAME = 64;

export const inputError = (loc: (string | number)[], { at, msg, type }: Problem): InputError => ({
  loc: [...loc.map(shortened), ...at],
  msg,
  type,
});

/** Never half of a surrogate pair. */
const shortened = (name: string | number): string | number =>
  typeof name === "string" && name.length > LONGEST_NAME
    ? name.slice(0, LONGEST_NAME).replace(/[\ud800-\udbff]$/, "")
    : name;

/** Collects what is wrong with an input: the first errors are kept, the others counted, beside the `more` that are known of already. */
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

export const inputErrors = (detail: InputError[]): Answer => ({ status: 422, body: JSON.stringify({ detail }) });
