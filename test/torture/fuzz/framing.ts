import type { Random } from "../lib/random.ts";

/** A request that a body must never turn into. */
const HIDDEN = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
const BODIES = ["hello", HIDDEN, HIDDEN + HIDDEN, `0\r\n\r\n${HIDDEN}`, `5\r\nhello\r\n0\r\n\r\n${HIDDEN}`];
const KEY = "aaaa0000000000000000000000000001";
const TARGETS = [
  "/api/v1/json/data/1",
  "/api/v1/json/data/2",
  `/api/v1/json/data/1?api_key=${KEY}`,
  "/api/v1/json/data/tag",
  "/v1/datasets/1",
  `/v1/datasets/1?api_key=${KEY}`,
  "/v1/datasets/tag",
  "/v1/data/list/limit/5",
  "/v1/nothing",
  "/x",
];
const FIELDS = [
  "X: y",
  "Accept-Encoding: gzip",
  `Authorization: Bearer ${KEY}`,
  "Connection: keep-alive",
  "Content-Type: application/json",
  "Cookie: a=b",
  "If-None-Match: *",
  "Origin: http://a",
  "Range: bytes=0-",
  "Via: 1.1 x",
  "X-Forwarded-For: 192.0.2.1",
  "X-Request-Id: given",
  `X-API-Key: ${KEY}`,
];

/** Bytes that are put in places where they are forbidden or rare. */
const ODD = {
  before: ["\r\n", "\n", "\r\n\r\n", "\0"],
  method: ["TRACE", "CONNECT", "get", "G\0T", "PRI", "", " GET", "GET\t", "M-SEARCH"],
  blank: ["  ", "\t", ""],
  target: ["http://h/x", "*", "//x", "/x y", "/\xe9", "/x#y", "h:1", "/..", "/x\\y"],
  version: ["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.2", "http/1.1", "HTTP/1.1 ", "", "HTTP/11", "HTTP/1.10"],
  lineEnd: ["\n", "\r", "\r\r\n", "\n\r\n", "\r\n ", "\r\n\t"],
  headEnd: ["\n", "\r", "", "\r\n\r\n", " \r\n"],
  host: ["Host:", "Host : a", "Host: a\0", "Host: a, b", "Host: a@b", "X: y", "Host: a\r\nHost: b", " Host: a"],
  field: [
    "X:",
    "X : y",
    ": y",
    "X",
    "X: \x01",
    "X: y\r\n z",
    "X: y\r\nX: y",
    "\xe9: x",
    "X(): y",
    "Connection: close, Content-Length",
    "Connection: Host",
    "Connection: Transfer-Encoding",
    "Cookie:\r\nCookie: a=b",
    "Expect: 100-continue",
    "Expect: x",
    "Keep-Alive: x",
    "Max-Forwards: 0",
    "Proxy-Connection: close",
    "Upgrade: h2c\r\nConnection: Upgrade",
  ],
  coding: [
    "Chunked",
    "chunked ",
    "identity",
    "gzip, chunked",
    "chunked, chunked",
    "chunked, identity",
    "x",
    "",
    "\x0bchunked",
    "chunked;q=1",
    '"chunked"',
    "chun\r\n ked",
    ",chunked",
    "chunked,",
  ].map((coding) => `Transfer-Encoding:${coding}`),
  codingLine: [
    "Transfer_Encoding: chunked",
    "Transfer-Encoding\r\n : chunked",
    "X: y\nTransfer-Encoding: chunked",
    "Transfer-Encoding : chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
  ],
  chunkEnd: ["\n", "", "X\r\n"],
  bodyEnd: [
    "00\r\n\r\n",
    "0;x\r\n\r\n",
    "0\r\nConnection: close\r\n\r\n",
    "0\r\nContent-Length: 5\r\n\r\n",
    "0\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
    "0\n\n",
    "0\r\n\r",
    "0\r\n X: y\r\n\r\n",
    "",
    "0\r\n\n",
  ],
  byte: ["", "\0", "\r", "\n", " ", "\t", "\x7f", "\xff", ":", "\r\n"],
};

const oddLengths = (size: number): string[] => [
  `+${size}`,
  `-${size}`,
  `0${size}`,
  `0x${size.toString(16)}`,
  `${size}.0`,
  `${size},${size}`,
  `${size} ${size}`,
  "1e1",
  "",
  "0",
  `${size + 1}`,
  `${size - 1}`,
  "9".repeat(20),
  `${size}\x0b`,
  `${size}\r\nContent-Length: ${size + 5}`,
];
const oddSizes = (size: string): string[] => [
  size.toUpperCase(),
  `0${size}`,
  `${"0".repeat(18)}${size}`,
  `${size};a=b`,
  `${size};a="\r\n"`,
  `${size} `,
  ` ${size}`,
  `0x${size}`,
  `+${size}`,
  "-1",
  `${"f".repeat(16)}${size}`,
  `${size}\n`,
  `${size};\0`,
];

/**
 * Requests that may be odd in every place, and behind them two sound requests, the last of which closes.
 * `most`: how many requests a server may find in them.
 */
export const pickFramed = (random: Random): { bytes: Buffer; most: number } => {
  const oddity = random.pick([1 / 18, 1 / 60, 1 / 200]);
  const odd = (sound: string, others: readonly string[]) => (random.chance(oddity) ? random.pick(others) : sound);
  const line = (text: string) => text + odd("\r\n", ODD.lineEnd);
  const chunk = (part: string) => {
    const size = part.length.toString(16);
    return `${odd(size, oddSizes(size))}${odd("\r\n", ODD.lineEnd)}${part}${odd("\r\n", ODD.chunkEnd)}`;
  };
  const request = (): string => {
    const framing = random.pick(["none", "none", "length", "length", "chunks", "chunks", "both"]);
    const body = framing === "none" ? odd("", [HIDDEN]) : random.pick(BODIES);
    const isChunked = framing === "chunks" || framing === "both";
    const fields = [odd("Host: a", ODD.host)];
    for (let count = random.integer(3); count > 0; count--) fields.push(odd(random.pick(FIELDS), ODD.field));
    if (framing === "length" || framing === "both")
      fields.push(`Content-Length: ${odd(String(body.length), oddLengths(body.length))}`);
    if (isChunked) fields.push(odd("Transfer-Encoding: chunked", random.pick([ODD.coding, ODD.codingLine])));
    const half = random.integer(body.length);
    const parts = [body.slice(0, half), body.slice(half)].filter((part) => part !== "");
    return [
      odd("", ODD.before),
      odd(random.pick(framing === "none" ? ["GET", "GET", "OPTIONS"] : ["POST", "PUT", "DELETE"]), ODD.method),
      odd(" ", ODD.blank),
      odd(random.pick(TARGETS), ODD.target),
      odd(" ", ODD.blank),
      line(odd("HTTP/1.1", ODD.version)),
      ...fields.toSorted(() => random.number() - 0.5).map(line),
      odd("\r\n", ODD.headEnd),
      ...(isChunked ? [...parts.map(chunk), odd("0\r\n\r\n", ODD.bodyEnd)] : [body]),
    ].join("");
  };
  const changed = (text: string): string => {
    const at = random.integer(text.length);
    return random.chance(0.1) ? text.slice(0, at) + random.pick(ODD.byte) + text.slice(at + random.integer(3)) : text;
  };
  const text = [
    ...Array.from({ length: 1 + random.integer(3) }, () => changed(request())),
    "GET /api/v1/json/data/1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /v1/datasets/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  ].join("");
  // A server may take these bytes for a request, and refuses it.
  return { bytes: Buffer.from(text, "latin1"), most: text.split("HTTP/").length };
};
