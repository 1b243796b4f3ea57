import { type ServerResponse, STATUS_CODES } from "node:http";

/** What a request is answered that no listener sees. `retryAfter` is in seconds. */
export type Refusal = { status: number; detail: string; retryAfter?: number };

const headersOf = ({ retryAfter }: Refusal, body: string): [name: string, value: string][] => [
  ["Content-Type", "application/json"],
  ["Content-Length", String(Buffer.byteLength(body))],
  ...(retryAfter === undefined ? [] : [["Retry-After", String(retryAfter)] as [string, string]]),
];

/** Answers `{"detail": ...}` and ends the connection: what is left of the request is not read. */
export const refuseRequest = (response: ServerResponse, refusal: Refusal): void => {
  const body = JSON.stringify({ detail: refusal.detail });
  response.shouldKeepAlive = false;
  response.writeHead(refusal.status, headersOf(refusal, body).flat()).end(body);
};

/** The same as bytes, for a connection on which no request was read. */
export const refusalBytes = (refusal: Refusal): string => {
  const body = JSON.stringify({ detail: refusal.detail });
  const lines = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    ...headersOf(refusal, body).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
};
