import type { IncomingMessage, ServerResponse } from "node:http";
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

/** The answer to a request whose body has no clear length, or that asks for another protocol. */
type FramingRefusal = { status: 400 | 501; detail: string };

const coded: FramingRefusal = {
  status: 501,
  detail: "The only transfer coding of a request that is understood is chunked.",
};
const oldCoded: FramingRefusal = { status: 400, detail: "An HTTP/1.0 request cannot have a Transfer-Encoding." };
const tooLong: FramingRefusal = { status: 400, detail: "The Content-Length is larger than can be sent on." };

/** Upgrades to HTTP/2 are not refused: RFC 9110 7.8 lets a server ignore them, and the client then goes on in HTTP/1.1. */
const upgraded: FramingRefusal = { status: 501, detail: "WebSocket is not supported." };

/**
 * Refuses a WebSocket, and bodies that Node's parser accepts and undici would send on changed: a transfer coding beside chunked
 * (RFC 9112 6.1 and 7) and a length beyond 2^53 - 1. `undefined`: the body can be read.
 */
export const refuseFraming = ({
  headers,
  httpVersion,
}: Pick<IncomingMessage, "headers" | "httpVersion">): FramingRefusal | undefined => {
  if (headers.upgrade !== undefined && /\bwebsocket\b/i.test(headers.upgrade)) return upgraded;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    if (httpVersion === "1.0") return oldCoded;
    if (coding.trim().toLowerCase() !== "chunked") return coded;
  }
  const length = headers["content-length"];
  return length === undefined || Number.isSafeInteger(Number(length)) ? undefined : tooLong;
};
