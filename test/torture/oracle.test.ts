import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { type AddressInfo, createServer as createNetServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../src/operation/network/listen.ts";
import { type Plan, runConnection } from "./fuzz/connection.ts";
import { echoBody } from "./fuzz/echo.ts";
import { openFuzz } from "./fuzz/fuzz.ts";
import { legacyAnswer } from "./fuzz/legacy.ts";
import { judge, type WellFormed } from "./fuzz/oracle.ts";
import type { Message } from "./lib/messageReader.ts";

const nothing = Buffer.alloc(0);
const json = "\r\nContent-Type: application/json";
const answered = (status: number, body: string | Buffer, more: Partial<Message> = {}): Message => ({
  start: `HTTP/1.1 ${status} OK`,
  fields: json,
  body: Buffer.from(body),
  whole: true,
  interim: 0,
  ...more,
});

const echo = { nonce: "n1", fault: "none", size: 100 };
const proxied = { echo, body: nothing, sentTarget: "/echo" };
const echoed = echoBody("GET", "/echo", echo, nothing);
const another = echoBody("GET", "/echo", { ...echo, nonce: "n2" }, nothing);
const legacy = { legacy: [legacyAnswer("GET", "/api/v1/json/data/1", "")], isKeyed: true };
const { body: dataset } = legacyAnswer("GET", "/api/v1/json/data/1", "");
const ours = { status: 200, right: ({ json: read }: { json: unknown }) => (read === 1 ? undefined : "not 1") };
const cached = `${json}\r\nCache-Status: x; hit`;

test.each<
  [what: string, expected: WellFormed["expected"], answer: Message, arrivals: number, judgement: string | RegExp]
>([
  ["the echo", proxied, answered(200, echoed), 1, /^right$/],
  ["the echo of another request", proxied, answered(200, another), 1, /a whole answer of/],
  ["an echo that lacks its end", proxied, answered(200, echoed.subarray(0, -1)), 1, /a whole answer of/],
  ["an echo that is cut", proxied, answered(200, "n1", { whole: false }), 1, /a cut answer of/],
  ["another status", proxied, answered(404, echoed), 1, /status 404/],
  ["an echo that was asked for three times", proxied, answered(200, echoed), 3, /received it 3 times/],
  ["legacy's answer", legacy, answered(200, dataset), 1, /^right$/],
  ["another answer than legacy's", legacy, answered(200, "{}"), 1, /right is 200/],
  ["a stored session", legacy, answered(200, dataset, { fields: `${cached}\r\nSet-Cookie: a=b` }), 1, /a session/],
  [
    "a key's answer that is public",
    legacy,
    answered(200, dataset, { fields: `${cached}\r\nCache-Control: public` }),
    1,
    /any cache may share/,
  ],
  ["a right document", ours, answered(200, "1"), 0, /^right$/],
  ["another document", ours, answered(200, "2"), 0, /not 1/],
  ["a document that must not be shown", { status: 403 }, answered(200, "1"), 0, /status 200; right is 403/],
  ["an error of the gateway's", ours, answered(502, '{"detail":"no"}'), 0, /^gatewayError$/],
  ["an error that is no JSON", ours, answered(502, "<h1>"), 0, /status 502; right is 200/],
])("the oracle judges %s", (_, expected, answer, arrivals, judgement) => {
  const request = { bytes: nothing, method: "GET", target: "/api/v1/json/data/1", closes: false, expected };
  const judged = judge(request, answer, arrivals, new Map());
  expect(typeof judged === "string" ? judged : judged.wrong).toMatch(judgement);
});

type Mistake = (request: IncomingMessage, response: ServerResponse, count: number) => boolean;

/** The judgement of a gateway that answers everything with 503, but for its mistake. */
const judgedRun = async (mistake: Mistake, limit = 60_000) => {
  const { upstream, run } = await openFuzz({ seed: 5, requests: 240, clients: 8, limit, isPlain: true });
  onTestFinished(() => upstream.close());
  let count = 0;
  const server = createServer((request, response) => {
    request.on("error", () => undefined).resume();
    request.on("end", () => {
      if (mistake(request, response, ++count)) return;
      response.writeHead(503, { "Content-Type": "application/json" }).end('{"detail":"no"}');
    });
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return run(port);
};

test("a run finds nothing wrong where every answer is an error of the gateway's", async () => {
  expect(await judgedRun(() => false)).toMatchObject({ wrong: 0, hung: 0, sent: 240, examples: [] });
});

test.each<[what: string, mistake: Mistake, example: RegExp, limit?: number]>([
  [
    "another dataset",
    ({ method, url = "" }, response) =>
      method === "GET" &&
      /^\/v1\/datasets\/\d+\/?$/.test(url) &&
      Boolean(response.writeHead(200, { "Content-Type": "application/json" }).end('{"id":0}')),
    /id is 0; right is \d+|status 200; right is/,
  ],
  ["a request without an answer", (_, __, count) => count % 20 === 0, /hung: client/, 300],
  [
    "a connection that is closed without an answer",
    ({ socket }, _, count) => count % 20 === 0 && Boolean(socket.destroy()),
    /closed without an answer/,
  ],
])("a run reports %s", async (_, mistake, example, limit) => {
  const tally = await judgedRun(mistake, limit);
  expect(tally.wrong + tally.hung).toBeGreaterThan(0);
  expect(tally.examples.join("\n")).toMatch(example);
});

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const REFUSED = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 15\r\n\r\n{"detail":"no"}';

/**
 * The reports about a client of a server that answers with these bytes: at once, or when
 * the client has half-closed.
 */
const reportedOf = async (answer: string, plan: Partial<Plan>) => {
  const server = createNetServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined).resume();
    socket.once(plan.leaves ? "end" : "data", () => socket.end(answer));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const reports: string[] = [];
  const none = () => undefined;
  await runConnection({
    port: (server.address() as AddressInfo).port,
    plan: { requests: [], isPipelined: true, endsByReset: false, pieces: 1, ...plan },
    limit: 5000,
    events: {
      sent: none,
      sentMalformed: none,
      answered: (_, { whole, body }) => void (whole || reports.push(`cut: ${body.toString()}`)),
      dropped: () => void reports.push("dropped"),
      hung: () => void reports.push("hung"),
      wrong: (_, why) => void reports.push(why),
    },
  });
  return reports;
};

const bytes = Buffer.from("HEAD /echo HTTP/1.1\r\n");
const head = { bytes, method: "HEAD", target: "/echo", closes: false, expected: { status: 200 } };
const halfCloses = { after: 0, how: "halfClose" } as const;

test.each<[what: string, plan: Partial<Plan>, answer: string, reports: (string | RegExp)[]]>([
  ["a client that stays", { requests: [head] }, `HTTP/1.1 200 OK\r\n\r\n${OK}`, [/^an answer that nothing asked for/]],
  ["one that has left, except a refusal of its half request", { requests: [head], leaves: halfCloses }, REFUSED, []],
  ["one that sent what is forbidden", { last: { is: "forbidden", bytes } }, OK, [/^a forbidden request was answered/]],
  [
    "one that sent malformed bytes",
    { last: { is: "mangled", bytes, most: 2 } },
    OK.repeat(3),
    [/^more answers than requests/],
  ],
])("a run reports an unrequested answer to %s", async (_, plan, answer, reports) => {
  expect(await reportedOf(answer, plan)).toEqual(reports.map((report) => expect.stringMatching(report) as string));
});

const noHttp = /^an answer that is no HTTP/;
const chunked = "Transfer-Encoding: chunked\r\n";

test.each<[rest: string, report: string | RegExp]>([
  ["X-A", "cut: "],
  [`${chunked}\r\n9\r\nhello`, "cut: hello"],
  [`${chunked}\r\nzz\r\n`, noHttp],
  [`${chunked}\r\n2\r\nabXX0\r\n\r\n`, noHttp],
  [`${chunked}Content-Length: 5\r\n\r\n`, noHttp],
])("a run reports an answer that is no whole message: %j", async (rest, report) => {
  const requests = [{ ...head, method: "GET" }];
  expect(await reportedOf(`HTTP/1.1 200 OK\r\n${rest}`, { requests })).toEqual([expect.stringMatching(report)]);
});
