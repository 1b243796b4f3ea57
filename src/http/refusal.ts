import type { ServerResponse } from "node:http";
import { exchangeOf } from "./exchange.ts";
import { STATUS_CODES } from "./nodeHttp.ts";
import { type WriteError, writeDetail } from "./problemDetails.ts";

/** The answer to a request that never reaches the listener. `retryAfter` is in seconds. */
export type Refusal = { status: number; detail: string; retryAfter?: number };

const detailOf = ({ detail }: Refusal): Buffer => Buffer.from(JSON.stringify({ detail }));

const headersOf = (
  { retryAfter }: Refusal,
  { type, body }: Pick<ReturnType<WriteError>, "type" | "body">,
): [name: string, value: string][] => [
  ["Content-Type", type],
  ["Content-Length", String(body.length)],
  ...(retryAfter === undefined ? [] : [["Retry-After", String(retryAfter)] as [string, string]]),
];

/** Answers and ends the connection; the rest of the request is not read. `write` needs a request whose target was read. */
export const refuseRequest = (response: ServerResponse, refusal: Refusal, write = writeDetail): void => {
  const { url = "/", headers } = response.req;
  const written = write({ target: url, accept: headers.accept }, refusal.status, detailOf(refusal));
  exchangeOf(response).isRefused = true;
  response.shouldKeepAlive = false;
  response.writeHead(refusal.status, [...headersOf(refusal, written).flat(), ...written.vary]).end(written.body);
};

/** The whole answer as text, for a connection on which no request was read; `requestId` is its `X-Request-Id`. */
export const refusalBytes = (refusal: Refusal, requestId: string): string => {
  const body = detailOf(refusal);
  const lines = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    ...headersOf(refusal, { type: "application/json", body }).map(([name, value]) => `${name}: ${value}`),
    `X-Request-Id: ${requestId}`,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body.toString()}`;
};
