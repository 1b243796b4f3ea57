import type { ServerResponse } from "node:http";
import type { EventLevel } from "../../operation/index.ts";
import { type OwnError, ownReply, sendOwnError, sendReply } from "../http/ownErrors.ts";
import type { FailureKind } from "../upstream/failure.ts";

/** What can go wrong with a proxied request; `loop`, `badRequest` and `slowClient` are the client's fault. */
export type Trouble = FailureKind | "loop" | "badRequest" | "slowClient";

/**
 * What the client is answered, and the level of the event. What a client causes is no fault of legacy's; what the
 * gateway refuses for want of room is one of ours.
 */
export const troubles: Record<Trouble, { status: number; detail: string; level: EventLevel }> = {
  unreachable: { status: 502, detail: "The upstream could not be reached.", level: "error" },
  broken: { status: 502, detail: "The upstream gave no sound answer.", level: "error" },
  tooLarge: { status: 502, detail: "The upstream's answer is too large.", level: "warn" },
  aborted: { status: 502, detail: "The request was given up.", level: "info" },
  fault: { status: 500, detail: "Internal Server Error", level: "error" },
  loop: { status: 502, detail: "The request has been through this gateway before.", level: "debug" },
  crowded: { status: 503, detail: "Too many bodies are being received.", level: "warn" },
  overloaded: { status: 503, detail: "Too many requests wait for the upstream.", level: "warn" },
  timeout: { status: 504, detail: "The upstream took too long.", level: "error" },
  badRequest: { status: 400, detail: "The request cannot be passed on.", level: "debug" },
  slowClient: { status: 408, detail: "The request's body stopped coming.", level: "debug" },
};

/** The same request would have these troubles again. */
const lasting: ReadonlySet<Trouble> = new Set(["loop", "badRequest", "slowClient"]);

/** A trouble. `isUnsent`: the upstream has received no part of the request. */
type RequestTrouble = { trouble: Trouble; isUnsent?: boolean };

/** What the client of a request is told that has this trouble. */
export const errorOf = ({ trouble, isUnsent = false }: RequestTrouble): OwnError => {
  const { status, detail } = troubles[trouble];
  const mayRepeat = lasting.has(trouble) ? "never" : isUnsent ? "always" : "reads";
  return { status, detail, mayRepeat, ...(status === 503 ? { retryAfter: 1 } : {}) };
};

/** Answers a trouble, with the headers `added`; only before any part of another answer was written. */
export const refuse = (
  res: ServerResponse,
  { added = [], ...requestTrouble }: RequestTrouble & { added?: readonly string[] },
): void => {
  // The rest of this body may never come, so the connection cannot carry another request.
  if (requestTrouble.trouble === "slowClient") res.shouldKeepAlive = false;
  const error = { ...errorOf(requestTrouble), headers: added };
  // Of any other trouble the body is being received, at a least rate (`Upload`).
  if (requestTrouble.trouble === "loop") sendOwnError(res, error);
  else sendReply(res, ownReply(res, error));
};
