import type { InputError } from "./problem.ts";

/** Every way a request can end other than with its document. `answerOf` gives each its status. */
export type OutcomeKind =
  | "unauthenticated"
  | "noAccess"
  | "forbidden"
  | "notFound"
  | "conflict"
  | "gone"
  | "refused"
  | "badState"
  /** Legacy cannot answer now. */
  | "unavailable"
  /** Legacy failed, or its answer cannot be read. */
  | "broken"
  | "tooSlow"
  /** Legacy did not understand what the gateway asked. */
  | "misasked"
  /** An error code that the table does not have. */
  | "unknown";

/**
 * With a code the answer's detail is `{code, message, additional_information?}`, without one it is the message. With
 * `errors` it is a 422 with these.
 */
export type Outcome = {
  kind: OutcomeKind;
  code?: string;
  message: string;
  additional?: string;
  errors?: InputError[];
  /** Seconds after which a client may ask again, where a front of legacy's says so. */
  retryAfter?: number;
};

/** One legacy error code: its message and its kind. `as`: the code to answer with instead. */
export type LegacyError = { code: number; message: string; kind: OutcomeKind; as?: number };
