import type { ServerResponse } from "node:http";
import type { EventLevel } from "../../operation/index.ts";
import { type OwnError, ownReply, sendOwnError, sendReply } from "../http/ownErrors.ts";
import type { FailureKind } from "../upstream/failure.ts";

/** The ways in which a proxied request can fail; `loop`, `badRequest` and `slowClient` are the client's fault. */
export type Trouble = FailureKind | "loop" | "badRequest" | "slowClient";

/**
 * The answer to the client, and the level of the event. A trouble that the client causes is not legacy's fault; if the
 * gateway has no room, that is the gateway's fault.
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

/** Troubles that the same request would have again. */
const lasting: ReadonlySet<Trouble> = new Set(["loop", "badRequest", "slowClient"]);

/** A trouble. `isUnsent`: the upstream has received no part of the request. */
type RequestTrouble = { trouble: Trouble; isUnsent?: boolean };

/** The error for the client of a request with this trouble. */
export const errorOf = ({ trouble, isUnsent = false }: RequestTrouble): OwnError => {
  const { status, detail } = troubles[trouble];
  const mayRepeat = lasting.has(trouble) ? "never" : isUnsent ? "always" : "reads";
  return { status, detail, mayRepeat, ...(status === 503 ? { retryAfter: 1 } : {}) };
};

/** Answers a request that has this trouble, with the headers `added`. Call it before any answer has been written. */
export const refuse = (
  res: ServerResponse,
  { added = [], ...requestTrouble }: RequestTrouble & { added?: readonly string[] },
): void => {
  // The rest of the request's body may never come, so the connection cannot carry another request.
  if (requestTrouble.trouble === "slowClient") res.shouldKeepAlive = false;
  const error = { ...errorOf(requestTrouble), headers: added };
  // With any other trouble `Upload` receives the rest of the body, and demands a minimum rate.
  if (requestTrouble.trouble === "loop") sendOwnError(res, error);
  else sendReply(res, ownReply(res, error));
};
