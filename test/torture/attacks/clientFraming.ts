import { type Attack, allHold } from "../lib/attack.ts";
import { exchange } from "../lib/client.ts";
import { type Message, MessageReader } from "../lib/messageReader.ts";

const H = "Host: gw\r\n";
const chunked = "5\r\nhello\r\n0\r\n\r\n";
const get = (fields: string, target = "/a") => `GET ${target} HTTP/1.1\r\n${fields}\r\n`;
const post = (fields: string, body: string) => `POST /a HTTP/1.1\r\n${H}${fields}\r\n${body}`;

/** What may come of a request: passed on (200), refused (one of the statuses, or the connection closed without one). */
type Expected = "passes" | "refused" | 400 | 501;

const cases: [name: string, bytes: string, expected: Expected][] = [
  ["plain", get(H), "passes"],
  ["length and chunks", post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nG"), 400],
  ["chunks and length", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "8\r\nSMUGGLED\r\n0\r\n\r\n"), 400],
  ["chunked, then identity", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunked), "refused"],
  ["identity, chunked", post("Transfer-Encoding: identity, chunked\r\n", chunked), "refused"],
  ["xchunked", post("Transfer-Encoding: xchunked\r\n", chunked), "refused"],
  ["blank before the colon", post("Transfer-Encoding : chunked\r\n", chunked), 400],
  ["tab before the colon", post("Transfer-Encoding\t: chunked\r\n", chunked), 400],
  ["gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", chunked), 501],
  ["chunked, gzip", post("Transfer-Encoding: chunked, gzip\r\n", chunked), "refused"],
  ["chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", chunked), "refused"],
  ["vertical tab", post("Transfer-Encoding: \x0bchunked\r\n", chunked), "refused"],
  ["two lengths", post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!"), 400],
  ["length +5", post("Content-Length: +5\r\n", "hello"), 400],
  ["length -1", post("Content-Length: -1\r\n", "hello"), 400],
  ["length 0x5", post("Content-Length: 0x5\r\n", "hello"), 400],
  ["length 5 5", post("Content-Length: 5 5\r\n", "hello"), 400],
  ["length of 2^64+5", post("Content-Length: 18446744073709551621\r\n", "hello"), 400],
  ["length of 2^53+1", post("Content-Length: 9007199254740993\r\n", "hello"), 400],
  ["header that begins with a blank", `GET /a HTTP/1.1\r\n ${H}\r\n`, 400],
  ["NUL in a value", get(`${H}X-A: b\0c\r\n`), 400],
  ["CR in a value", get(`${H}X-A: b\rX-B: c\r\n`), 400],
  ["chunk size 0x5", post("Transfer-Encoding: chunked\r\n", "0x5\r\nhello\r\n0\r\n\r\n"), "refused"],
  ["chunk size +5", post("Transfer-Encoding: chunked\r\n", "+5\r\nhello\r\n0\r\n\r\n"), "refused"],
  [
    "chunk size of 2^64+5",
    post("Transfer-Encoding: chunked\r\n", "10000000000000005\r\nhello\r\n0\r\n\r\n"),
    "refused",
  ],
  ["chunk without an end", post("Transfer-Encoding: chunked\r\n", "5\r\nhelloXX0\r\n\r\n"), "refused"],
  ["line feed in a chunk extension", post("Transfer-Encoding: chunked\r\n", "5;a\nb\r\nhello\r\n0\r\n\r\n"), "refused"],
  ["unknown expectation", post("Expect: 200-maybe\r\nContent-Length: 5\r\n", "hello"), "refused"],
  ["HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "refused"],
  ["CONNECT", "CONNECT evil:443 HTTP/1.1\r\nHost: evil:443\r\n\r\n", "refused"],
  ["absolute form", get(H, "http://other.example/a"), "passes"],
  ["absolute form, https", get(H, "https://other.example:8443/a?x=1"), "passes"],
  ["absolute form without a path", get(H, "http://other.example"), "passes"],
  ["absolute form without a host", get(H, "http:///a"), 400],
  ["absolute form, ftp", get(H, "ftp://other.example/a"), 400],
  ["authority form", get(H, "evil:80"), 400],
  ["asterisk form", get(H, "*"), 400],
  ["target with a backslash", get(H, "\\a"), 400],
  ["target with a NUL", get(H, "/a\0b"), 400],
  ["target with a blank", get(H, "/a b"), 400],
  ["two Hosts", get("Host: one\r\nHost: two\r\n"), 400],
  ["two Hosts, new interface", get("Host: one\r\nHost: two\r\n", "/v1/datasets/61"), 400],
  ["list of Hosts", get("Host: one, two\r\n"), 400],
  ["Host with a path", get("Host: one/../x?y#z\r\n"), 400],
  ["Host with a user", get("Host: a@b\r\n"), 400],
  ["Host with a quote", get('Host: a";for=1.2.3.4\r\n'), 400],
  ["no Host", get(""), 400],
  ["no Host in HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n", "passes"],
  ["lower-case method", `get /a HTTP/1.1\r\n${H}\r\n`, 400],
  ["unknown method", `FOO /a HTTP/1.1\r\n${H}\r\n`, 400],
  ["QUERY with a body", `QUERY /a HTTP/1.1\r\n${H}Content-Length: 2\r\n\r\nhi`, "passes"],
  ["GET with a body", `GET /a HTTP/1.1\r\n${H}Content-Length: 27\r\n\r\nGET /smuggled HTTP/1.1\r\nA: `, "passes"],
  ["header name with a blank", get(`${H}X A: b\r\n`), 400],
  ["header without a colon", get(`${H}XA\r\n`), 400],
  ["header without a name", get(`${H}: b\r\n`), 400],
  ["header name beyond ASCII", get(`${H}X\xe9: b\r\n`), 400],
  ["Connection names the length", post("Connection: Content-Length\r\nContent-Length: 5\r\n", "hello"), "passes"],
  ["header of 200,000 bytes", get(`${H}X-Long: ${"a".repeat(200_000)}\r\n`), "refused"],
  ["two pipelined", get(H) + get(H), "passes"],
];

/** Those of them that no gateway may accept, each for this target. */
export const refusedRequests = (target: string): string[] =>
  cases.flatMap(([, bytes, expected]) => (expected === "passes" ? [] : bytes.replace(/^(\w+) \/a /, `$1 ${target} `)));

const ANSWER = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";

export const clientFraming: Attack = {
  name: "client-framing",
  what: "Malformed and ambiguous requests: each is refused, or what the upstream receives has one meaning.",
  async run({ startGateway, openRawUpstream }) {
    const upstream = await openRawUpstream((socket) => socket.write(ANSWER));
    const { port, isAlive } = await startGateway({ LEGACY_URL: upstream.url });
    const answered: { name: string; holds: boolean }[] = [];
    const clean: { name: string; holds: boolean }[] = [];
    for (const [name, bytes, expected] of cases) {
      const before = upstream.received().map((text) => text.length);
      const { status, isClosed } = await exchange(port, bytes, { limit: 10_000 });
      const isRefused = (status >= 400 && status < 502) || (status === 0 && isClosed);
      const isRight = expected === "passes" ? status === 200 : expected === "refused" ? isRefused : status === expected;
      answered.push({ name: `${name} (${status || (isClosed ? "closed" : "no answer")})`, holds: isRight });
      const arrived = upstream.received().map((text, index) => text.slice(before[index] ?? 0));
      clean.push({ name, holds: arrived.every((text) => isClean(text, name === "two pipelined" ? 2 : 1)) });
    }
    const again = await exchange(port, get(H));
    return [
      allHold("requests answered as they must be", answered),
      allHold("requests of which nothing ambiguous reaches the upstream", clean),
      allHold("afterwards", [{ name: "a plain request", holds: again.status === 200 && isAlive() }]),
    ];
  },
};

/** At most so many requests, each with one Host and one meaning of where it ends. */
const isClean = (received: string, most: number): boolean => {
  const messages: Message[] = [];
  let isSound = true;
  const reader = new MessageReader({
    hasNoBody: () => false,
    withoutLength: "none",
    onMessage: (message) => messages.push(message),
    onBroken: () => (isSound = false),
  });
  reader.push(Buffer.from(received, "latin1"));
  const isOne = ({ start, fields }: Message): boolean => {
    const count = (name: string) =>
      fields.split("\r\n").filter((line) => line.toLowerCase().startsWith(`${name}:`)).length;
    const framings = count("content-length") + count("transfer-encoding");
    return /^[A-Z]+ \/\S* HTTP\/1\.1$/.test(start) && count("host") === 1 && framings <= 1;
  };
  return isSound && messages.length <= most && messages.every(isOne);
};
