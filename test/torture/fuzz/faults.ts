import type { Socket } from "node:net";
import type { Random } from "../lib/random.ts";

/**
 * The answer that the upstream would give if it were sound. `body` is empty for HEAD, `length` is that of the body all
 * the same. `fields`: more header lines.
 */
export type SoundAnswer = { status: number; type: string; body: Buffer; length: number; fields?: readonly string[] };

/**
 * The answer that a client of a proxied request may get under a fault:
 * - `exact`: the sound answer, whole;
 * - `broken`: 502, 503 or 504 of the gateway's, or the beginning of the sound answer with an end that shows it is cut;
 * - `either` of both;
 * - `shorter`: a whole answer without the last bytes, since the upstream said so, or `broken`;
 * - `noBody`: the fault's status with an empty body.
 */
export type Expectation = "exact" | "broken" | "either" | "shorter" | "noBody";

export type Fault = {
  expects: Expectation;
  /** The status that the upstream answers with, where it is not the sound one. */
  status?: number;
  /** The gateway waits for a time limit of its own. */
  isSlow?: boolean;
  answer: (socket: Socket, sound: SoundAnswer, random: Random) => void;
};

/** The bytes by which `shortLength` understates the body. */
export const SHORTER_BY = 5;

const headOf = ({ status, type, fields = [] }: SoundAnswer, ...more: string[]): string =>
  `${[`HTTP/1.1 ${status} Said`, `Content-Type: ${type}`, ...fields, ...more].join("\r\n")}\r\n\r\n`;
const bytesOf = (sound: SoundAnswer, ...fields: string[]): Buffer =>
  Buffer.concat([Buffer.from(headOf(sound, `Content-Length: ${sound.length}`, ...fields), "latin1"), sound.body]);
const write = (socket: Socket, bytes: Buffer | string): void => {
  if (socket.writable) socket.write(bytes);
};
/** The answer's first bytes, never all of them. */
const part = (sound: SoundAnswer, random: Random): Buffer => {
  const bytes = bytesOf(sound);
  return bytes.subarray(0, random.integer(bytes.length));
};
const chunked = ({ body }: SoundAnswer, random: Random, trailers = ""): Buffer => {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const size = Math.min(body.length - at, 1 + random.integer(random.chance(0.5) ? 40 : 70_000));
    pieces.push(Buffer.from(`${size.toString(16)}\r\n`), body.subarray(at, at + size), Buffer.from("\r\n"));
    at += size;
  }
  return Buffer.concat([...pieces, Buffer.from(`0\r\n${trailers}\r\n`)]);
};
const withHead = (sound: SoundAnswer, body: Buffer | string, ...fields: string[]): Buffer =>
  Buffer.concat([Buffer.from(headOf(sound, ...fields), "latin1"), Buffer.from(body)]);

const drip = (socket: Socket, sound: SoundAnswer, random: Random): void => {
  const bytes = bytesOf(sound);
  const cuts = Array.from({ length: 6 }, () => random.integer(Math.min(bytes.length, 600))).toSorted((a, b) => a - b);
  let at = 0;
  const next = () => {
    const to = cuts.shift() ?? bytes.length;
    write(socket, bytes.subarray(at, to));
    at = to;
    if (at < bytes.length && !socket.destroyed) setTimeout(next, 1 + random.integer(3));
  };
  next();
};

const CHUNKED = "Transfer-Encoding: chunked";
const EARLY = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n";
const BAD_LINES = ["HTTP/1.1 99", "HTTP/1.1", "HTTP/9.9 200", "ICY 200", "HTTP/1.1 \x01\x02"];
const TRAILERS = ["Connection: close\r\n", "Transfer-Encoding: gzip\r\n", "Content-Type:\r\nSet-Cookie: a=b\r\n"];
const BAD_LENGTHS = ["-1", "x", "9".repeat(25), "1 2"];

/** Lines that a server in front of legacy may add, each of which may be empty, or come twice. */
const ADDED = [
  "Access-Control-Allow-Origin: *",
  "Age: 1",
  "Cache-Control: no-store",
  "Connection: keep-alive",
  "Content-Encoding: gzip",
  "Content-Language: en",
  "Content-Type: text/html",
  "Date: Thu, 19 Nov 1981 08:52:00 GMT",
  "Deprecation: true",
  'ETag: "a"',
  "Keep-Alive: timeout=5",
  "Link: <a>; rel=x",
  "Location: /a",
  "Retry-After: 1",
  "Server: a",
  "Set-Cookie: a=b",
  "Vary: Cookie",
  "WWW-Authenticate: Basic",
  "X-Request-Id: a",
];
/** An empty header, or a header that comes twice. */
export const pickOddFields = (random: Random): string[] => {
  const line = random.pick(ADDED);
  const empty = line.replace(/ .*/, "");
  return random.pick([[empty], [line, line], [line, empty], [line, `${line}x`]]);
};
/** An answer whose body comes in chunks. */
const inChunks = (answer: SoundAnswer, random: Random, trailers?: string): Buffer =>
  withHead(answer, answer.length === answer.body.length ? chunked(answer, random, trailers) : "", CHUNKED);

type Made = (answer: SoundAnswer, random: Random) => Buffer | string;
/** A fault that writes these bytes, and may end the connection behind them. */
const writes = (expects: Expectation, made: Made, more: Partial<Fault> = {}): Fault => ({
  expects,
  answer: (socket, answer, random) => write(socket, made(answer, random)),
  ...more,
});
const ends = (expects: Expectation, made: Made): Fault => ({
  expects,
  answer: (socket, answer, random) => void socket.end(made(answer, random)),
});
const withLength = (answer: SoundAnswer, length: number | string, ...more: string[]): Buffer =>
  withHead(answer, answer.body, `Content-Length: ${length}`, ...more);
const withStatus = (status: number, expects: Expectation, made: Made): Fault =>
  writes(expects, (answer, random) => made({ ...answer, status }, random), { status });

export const faults: Readonly<Record<string, Fault>> = {
  // Sound, however unusual.
  none: writes("exact", (answer) => bytesOf(answer)),
  chunks: writes("exact", (answer, random) => inChunks(answer, random)),
  trailers: writes("exact", (answer, random) => inChunks(answer, random, random.pick(TRAILERS))),
  untilClose: ends("exact", (answer) => withHead(answer, answer.body, "Connection: close")),
  closes: ends("exact", (answer) => bytesOf(answer, "Connection: close")),
  drips: { expects: "exact", answer: drip },
  hints: writes("exact", (answer) => Buffer.concat([Buffer.from(EARLY.repeat(5), "latin1"), bytesOf(answer)])),
  oddFields: writes("exact", (answer, random) => bytesOf(answer, ...pickOddFields(random))),
  longHead: writes("exact", (answer) => bytesOf(answer, `Set-Cookie: a=${"b".repeat(20_000)}`)),
  claimsGzip: writes("exact", (answer) => bytesOf(answer, "Content-Encoding: gzip")),
  oddStatus: withStatus(299, "exact", (answer) => bytesOf(answer)),
  refuses: withStatus(599, "exact", (answer) => bytesOf(answer)),
  moved: withStatus(301, "noBody", (answer) => headOf(answer, "Location: /elsewhere", "Content-Length: 0")),
  nothing: withStatus(204, "noBody", () => "HTTP/1.1 204 No Content\r\n\r\n"),
  empty500: withStatus(500, "noBody", () => "HTTP/1.1 500 Error\r\nContent-Length: 0\r\n\r\n"),
  twice: writes("exact", (answer) => Buffer.concat([bytesOf(answer), bytesOf(answer)])),
  trailingBytes: writes("exact", (answer) => Buffer.concat([bytesOf(answer), Buffer.from("EXTRA\r\n\r\n")])),
  // No HTTP, or no whole answer.
  resets: { expects: "broken", answer: (socket) => void socket.resetAndDestroy() },
  ends: { expects: "broken", answer: (socket) => void socket.end() },
  silent: { expects: "broken", isSlow: true, answer: () => undefined },
  breaksOff: ends("broken", part),
  resetsInside: {
    expects: "broken",
    answer(socket, answer, random) {
      write(socket, part(answer, random));
      setTimeout(() => socket.resetAndDestroy(), random.integer(10));
    },
  },
  stopsInside: writes("broken", part, { isSlow: true }),
  longLength: writes("broken", (answer) => withLength(answer, answer.length + 7), { isSlow: true }),
  shortLength: writes("shorter", (answer) => withLength(answer, Math.max(0, answer.length - SHORTER_BY))),
  noLength: writes("broken", (answer, random) => withLength(answer, random.pick(BAD_LENGTHS))),
  twoLengths: writes("either", (answer) => withLength(answer, answer.length, "Content-Length: 3")),
  lengthAndChunks: writes("either", (answer, random) =>
    withHead(answer, chunked(answer, random), CHUNKED, `Content-Length: ${answer.length}`),
  ),
  badChunk: writes("broken", (answer, random) => withHead(answer, random.pick(["zz\r\n", "-1\r\n"]), CHUNKED)),
  cutChunks: ends("broken", (answer, random) => withHead(answer, chunked(answer, random).subarray(0, -3), CHUNKED)),
  garbage: writes("broken", (_, random) => Buffer.from([0, ...Array.from({ length: 50 }, () => random.integer(256))])),
  badStatusLine: writes("broken", (answer, random) =>
    bytesOf(answer)
      .toString("latin1")
      .replace(/^HTTP\/1.1 \d+/, random.pick(BAD_LINES)),
  ),
  switches: writes("broken", () => "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nzzz"),
  continues: writes("either", (answer) =>
    Buffer.concat([Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"), bytesOf(answer)]),
  ),
  hugeHead: writes("either", (answer) => bytesOf(answer, `X-Long: ${"b".repeat(70_000)}`)),
};

const contentOf =
  (body: string, type: string, status = 200) =>
  (answer: SoundAnswer): SoundAnswer => ({
    ...withBody(answer, Buffer.from(body)),
    type,
    status,
  });
const withBody = (answer: SoundAnswer, body: Buffer): SoundAnswer => ({ ...answer, body, length: body.length });
const NOTICE =
  '\n<div style="border:1px solid #990000;"><h4>A PHP Error was encountered</h4><p>Severity: Notice</p></div>';
const DATABASE_DOWN =
  '<oml:error xmlns:oml="http://openml.org/openml">\n\t<oml:code>107</oml:code>\n\t<oml:message>Database connection error.</oml:message>\n\t</oml:error>\n';

/**
 * Errors of legacy itself: the bytes are HTTP, the content is not what was asked for. For the new interface only.
 */
export const contentFaults: Record<string, (sound: SoundAnswer, random: Random) => SoundAnswer> = {
  phpNotice: (answer) => withBody(answer, Buffer.concat([Buffer.from(NOTICE), answer.body])),
  cutJson: (answer, random) => withBody(answer, answer.body.subarray(0, random.integer(answer.body.length))),
  // In XML this is a name like any other.
  unescapedQuote: (answer) =>
    answer.type.includes("json")
      ? withBody(answer, Buffer.from(answer.body.toString().replace("dataset", 'data"set')))
      : answer,
  html: contentOf("<html><body>Sorry</body></html>", "text/html"),
  databaseDown: contentOf(DATABASE_DOWN, "text/xml; charset=utf-8", 412),
  cutXmlError: contentOf("<oml:error><oml:code", "text/xml", 412),
  notUtf8: (answer) => withBody(answer, Buffer.concat([Buffer.from([0xff, 0xfe, 0x00]), answer.body])),
  anotherShape: (answer) => withBody(answer, Buffer.from('{"data_set_description":[1,2],"data":7}')),
};

const names = Object.keys(faults).filter((name) => name !== "none");
const fast = names.filter((name) => faults[name]?.isSlow !== true);
const slow = names.filter((name) => faults[name]?.isSlow === true);

/**
 * A fault's name in this share of all cases, else `none`. Faults that make the gateway wait are rare, or
 * nothing else would happen.
 */
export const pickFault = (random: Random, share: number): string => {
  if (!random.chance(share)) return "none";
  return random.chance(0.03) ? random.pick(slow) : random.pick(fast);
};
