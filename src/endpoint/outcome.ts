/** Every way a request can end other than with its document. What status each has is the gateway's business. */
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
  /** Legacy failed, or answered with what is no answer. */
  | "broken"
  | "tooSlow"
  /** Legacy did not understand what the gateway asked. */
  | "misasked"
  /** A code nobody has heard of. */
  | "unknown";

/** With a code the answer's detail is `{code, message, additional_information?}`, without one it is the message. */
export type Outcome = { kind: OutcomeKind; code?: string; message: string; additional?: string };

export const isOutcome = (value: object): value is Outcome => "kind" in value;

/** One legacy error code: what it says, what it means, and as which code it is told where that is another. */
export type LegacyError = { code: number; message: string; kind: OutcomeKind; as?: number };
