import type { IncomingMessage, ServerResponse } from "node:http";
import { legacyCorsList } from "../http/cors.ts";
import { STATUS_CODES } from "../http/nodeHttp.ts";
import { type Answer, plainAnswer } from "../../catalogue/endpoint/answer.ts";
import type { EventLevel } from "../../operation/telemetry/events.ts";
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
  res.writeHead(status, STATUS_CODES[status], [
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
 * What the client is answered, and the level of the event. What a client causes is no fault of legacy's; what the gateway refuses for want of
 * room is one of ours.
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

/** What a client is answered where its request has this trouble. */
export const answerTo = (trouble: Trouble): Answer => {
  const { status, detail } = troubles[trouble];
  return plainAnswer(status, detail, status === 503 ? { "Retry-After": "1" } : undefined);
};

/** Answers a trouble, with these headers added; only before any part of another answer was written. */
export const refuse = (
  req: IncomingMessage,
  res: ServerResponse,
  trouble: Trouble,
  added: readonly string[] = [],
): void => {
  const { status, body, headers = {} } = answerTo(trouble);
  // The rest of this body may never come, so the connection cannot carry another request.
  const closing = trouble === "slowClient" ? ["Connection", "close"] : [];
  answerItself(req, res, {
    status,
    type: "application/json",
    headers: [...Object.entries(headers).flat(), ...closing, ...added],
    body: body.toString(),
  });
};
