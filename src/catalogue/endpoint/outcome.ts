import type { InputError } from "./problem.ts";

/** Every way in which a request can end without its document. `answerOf` gives each its status. */
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
  /** Legacy did not understand the gateway's request. */
  | "misasked"
  /** An error code that is not in the table. */
  | "unknown";

/**
 * With a code the detail of the answer is `{code, message, additional_information?}`, without a code it is the message.
 * With `errors` the answer is a 422 that lists them.
 */
export type Outcome = {
  kind: OutcomeKind;
  code?: string;
  message: string;
  additional?: string;
  errors?: InputError[];
  /** Seconds after which a client may repeat the request, if a front of legacy says so. */
  retryAfter?: number;
};

/** An error code of legacy: its message and its kind. `as`: the code to answer with instead. */
export type LegacyError = { code: number; message: string; kind: OutcomeKind; as?: number };
