import { type IncomingMessage, STATUS_CODES, type ServerResponse } from "node:http";

/** What is answered in the upstream's place; `headers` are a flat list, without those of the body. */
export type OwnAnswer = { status: number; type: string; headers: readonly string[]; body: string };

/** Answers at once, whatever of the request's body is still to come: that runs into the void. */
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
    ...headers,
  ]);
  res.end(req.method === "HEAD" ? undefined : body);
};
