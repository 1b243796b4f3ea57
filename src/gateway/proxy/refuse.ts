import type { IncomingMessage, ServerResponse } from "node:http";
import { legacyCorsList } from "../http/cors.ts";
import { type EventLevel, http } from "../../operation/index.ts";
import { type Answer, plainAnswer } from "../../catalogue/index.ts";
import type { WriteOwnError } from "../http/ownErrors.ts";
import type { FailureKind } from "../upstream/failure.ts";

/** An answer in the upstream's place; `headers` are a flat list, without those of the body. */
export type OwnAnswer = { status: number; type: string; headers: readonly string[]; body: string };

/** Answers at once; the rest of the request's body is discarded. */
export const answerItself = (
  req: IncomingMessage,
  res: ServerResponse,
  { status, type, headers, body }: OwnAnswer,
): void => {
  res.sendDate = true;
  res.writeHead(status, http.STATUS_CODES[status], [
    "Content-Type",
    type,
    "Content-Length",
    String(Buffer.byteLength(body)),
    ...legacyCorsList,
    ...headers,
  ]);
  res.end(req.method === "HEAD" ? undefined : body);
};

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

/**
 * What the client of a request is answered where it has this trouble: by `write` if that knows
 * how its errors are written.
 */
export const answerTo = (
  request: { method: string | undefined; target: string },
  { trouble, isUnsent = false }: RequestTrouble,
  write?: WriteOwnError,
): Answer => {
  const { status, detail } = troubles[trouble];
  const retryAfter = status === 503 ? "1" : undefined;
  const mayRepeat = lasting.has(trouble) ? "never" : isUnsent ? "always" : "reads";
  return (
    write?.(request, { status, detail: () => detail, mayRepeat, retryAfter }) ??
    plainAnswer(status, detail, retryAfter === undefined ? undefined : { "Retry-After": retryAfter })
  );
};

/** Answers a trouble, with the headers `added`; only before any part of another answer was written. */
export const refuse = (
  req: IncomingMessage,
  res: ServerResponse,
  { added = [], write, ...about }: RequestTrouble & { added?: readonly string[]; write?: WriteOwnError | undefined },
): void => {
  const { trouble } = about;
  const { method, url: target = "/" } = req;
  const { status, body, type = "application/json", headers = {} } = answerTo({ method, target }, about, write);
  // The rest of this body may never come, so the connection cannot carry another request.
  const closing = trouble === "slowClient" ? ["Connection", "close"] : [];
  answerItself(req, res, {
    status,
    type,
    headers: [...Object.entries(headers).flat(), ...closing, ...added],
    body: body.toString(),
  });
};
