import type { Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { exchange, expectDetail, keys, measures, taggingRequest } from "../answer/support.ts";
import { listeningGateway } from "../http/support.ts";
import { get, rawUpstream, request, send } from "../proxy/support.ts";

const ok = "HTTP/1.1 200 OK\r\n";
const whole = (text: string | Buffer, ...headers: string[]): Buffer =>
  Buffer.concat([
    Buffer.from([`${ok}Content-Length: ${text.length}`, ...headers, "\r\n"].join("\r\n")),
    Buffer.from(text),
  ]);
const sound = whole(measures).toString();
const page = whole("<html><p>Not Found</p></html>", "Content-Type: text/html").toString();

/** The bytes that legacy writes. Then it keeps the connection, ends or resets it, or writes them again and again. */
type Answer = string | Buffer | [bytes: string | Buffer, then: "end" | "reset" | "repeat"];

/**
 * What comes of a read and a write of the new interface, and of a read and a write that pass through, by what legacy
 * writes. `502`: an error by the gateway. `twice`: legacy gets the request a second time. `200`: the answer goes out.
 * `cut`: it begins to go out, and the connection is closed.
 */
const table: [
  read: string,
  write: string,
  proxiedRead: string,
  proxiedWrite: string,
  answers: Record<string, Answer>,
][] = [
  [
    "502 twice",
    "502",
    "502 twice",
    "502",
    {
      "closes before a byte": ["", "end"],
      "resets before a byte": ["", "reset"],
    },
  ],
  [
    "502",
    "502",
    "502",
    "502",
    {
      "closes within the status line": ["HTTP/1.1 2", "end"],
      "resets within the status line": ["HTTP/1.1 2", "reset"],
      "closes within the headers": [`${ok}Content-Le`, "end"],
      "speaks no HTTP": [`<html>api_key=${keys.unknown}</html>`, "end"],
      "names two lengths": [`${ok}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, "end"],
      "sends headers without end": [`${ok}X: ${"a".repeat(200_000)}`, "end"],
      "switches protocols": ["HTTP/1.1 101 A\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "end"],
      "sends a 100 that was not asked for": `HTTP/1.1 100 Continue\r\n\r\n${sound}`,
      "sends a 103 that closes": `HTTP/1.1 103 A\r\nConnection: close\r\n\r\n${sound}`,
      "sends interim answers without end": ["HTTP/1.1 102 A\r\n\r\n".repeat(9), "repeat"],
      "codes the transfer": `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      "codes the transfer until it closes": [`${ok}Transfer-Encoding: gzip\r\n\r\n{}`, "end"],
    },
  ],
  [
    "502",
    "502",
    "cut",
    "cut",
    {
      "closes within its length": [sound.slice(0, -9), "end"],
      "closes within a chunk": [`${ok}Transfer-Encoding: chunked\r\n\r\n99\r\n${measures}`, "end"],
      "closes without a last chunk": [`${ok}Transfer-Encoding: chunked\r\n\r\n38\r\n${measures}\r\n`, "end"],
    },
  ],
  [
    "502",
    "502",
    "200",
    "200",
    {
      "declares a length that is too large": whole(measures.padEnd(2049)),
      "sends more than is allowed": [`${ok}\r\n${measures.padEnd(2049)}`, "end"],
      "zips unasked": whole(gzipSync(measures), "Content-Encoding: gzip"),
      "sends another resource": whole('{"other":{"secret":1}}'),
      "sends a page": page,
    },
  ],
  [
    "502 twice",
    "502",
    "200",
    "200",
    {
      "sends bytes that are no text": whole(Buffer.from([0x7b, 0xff, 0x7d])),
    },
  ],
  [
    "502",
    "502",
    "404",
    "404",
    {
      "sends a document with a 404": sound.replace("200 OK", "404 Not Found"),
    },
  ],
  [
    "502",
    "502",
    "500",
    "500",
    { "dies without a word": "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n" },
  ],
  ["502", "502", "302", "302", { redirects: page.replace("200 OK", "302 Found\r\nLocation: http://127.0.0.1:1/") }],
  ["503", "503", "503", "503", { "has no room": page.replace("200 OK", "503 Busy") }],
  [
    "200",
    "502",
    "200",
    "200",
    {
      "sends a 103 before its answer": `HTTP/1.1 103 A\r\n\r\n${sound}`,
      "sends no length": [`${ok}\r\n${measures}`, "end"],
      "sends just the length that is allowed": whole(measures.padEnd(2048)),
      "names the coding identity": whole(measures, "Content-Encoding: identity"),
    },
  ],
];

const writeAnswer = (socket: Socket, answer: Answer): void => {
  const [bytes, then] = Array.isArray(answer) ? answer : [answer, undefined];
  if (then === "end") return void socket.end(bytes);
  if (then !== "repeat") return void socket.write(bytes, () => then === "reset" && socket.resetAndDestroy());
  while (!socket.destroyed && socket.write(bytes));
  if (!socket.destroyed) socket.once("drain", () => writeAnswer(socket, answer));
};

const form = `api_key=${keys.unknown}&data_id=1&tag=a`;
const formType = "Content-Type: application/x-www-form-urlencoded";
const requests: (readonly string[])[] = [
  [get("/v1/evaluationmeasures/list", `X-API-Key: ${keys.unknown}`)],
  taggingRequest,
  [get(`/api/v1/json/data/61?api_key=${keys.unknown}`)],
  [request("POST /api/v1/json/data/tag", formType, `Content-Length: ${form.length}`), form],
];

/** `502 twice`, as in the table. `times`: the number of requests that legacy has got. */
const describeAnswer = ({ text, reset }: Awaited<ReturnType<typeof send>>, times: number): string => {
  const final = text.replace(/^(HTTP\/1\.1 1\d\d [^]*?\r\n\r\n)*/, "");
  const [head = "", ...bodies] = final.split("\r\n\r\n");
  const body = bodies.join("\r\n\r\n");
  const status = head.slice(9, 12);
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  const isWhole = length === undefined ? `\r\n${body}`.endsWith("\r\n0\r\n\r\n") : body.length === Number(length);
  if (reset || !isWhole) return "cut";
  if (status === "502") expect(text).not.toMatch(new RegExp(`${keys.unknown}|secret|127\\.0\\.0\\.1`, "i"));
  return `${status}${times === 1 ? "" : times === 2 ? " twice" : ` ${times} times`}`;
};

describe.each(table)(
  "legacy gives no sound answer: %s, %s, %s, %s",
  (read, written, proxiedRead, proxiedWrite, answers) => {
    test.each(Object.entries(answers))("it %s", async (_, answer) => {
      let times = 0;
      const { origin } = await rawUpstream((socket, head) => {
        // The probe, and the verification of a key after a lost write, get a sound answer.
        const isOwn = head.includes("evaluationmeasure/list") && /^user-agent: catalog-gateway\r$/im.test(head);
        if (isOwn || head.startsWith("GET /healthy ")) return void socket.write(sound);
        times++;
        return writeAnswer(socket, answer);
      });
      // With one connection, a leaked place shows at the next request.
      const { port, observer } = await listeningGateway(origin, { MAX_CONNECTIONS: "1", MAX_REPLY_BYTES: "2048" });
      const given: string[] = [];
      for (const [at, parts] of requests.entries()) {
        times = 0;
        const before = observer.counts();
        const outcome = describeAnswer(await send(port, ...parts), times);
        given.push(outcome);
        // Each error of the new interface is an event.
        if (at < 2 && outcome !== "200" && isDeepStrictEqual(before, observer.counts())) given.push("without an event");
      }
      expect(given).toEqual([read, written, proxiedRead, proxiedWrite]);
      expect((await exchange(port, get("/healthy"))).body).toBe(measures);
      expect(Object.keys(observer.counts()).join()).not.toContain(keys.unknown);
    });
  },
);

/** Writes a blank again and again, until the connection is closed. */
const drip = (socket: Socket): void => {
  socket.write(`${ok}\r\n`);
  const more = setInterval(() => socket.write(" "), 60);
  socket.once("close", () => clearInterval(more));
};

test.each<[name: string, answer: (socket: Socket) => unknown, environment: Record<string, string>]>([
  ["says nothing", () => undefined, { TOTAL_TIMEOUT_MS: "300" }],
  ["drips", drip, { TOTAL_TIMEOUT_MS: "300" }],
  ["falls silent in its body", (socket) => socket.write(sound.slice(0, -9)), { BODY_TIMEOUT_MS: "150" }],
])("a legacy that %s: 504, and its place is given back", async (_, answer, environment) => {
  const { origin } = await rawUpstream(answer);
  const { port } = await listeningGateway(origin, { MAX_CONNECTIONS: "1", ...environment });
  const [read = [], write = []] = requests;
  for (const parts of [read, read, write]) expectDetail(await exchange(port, ...parts), 504);
});
