import { type IncomingMessage, type ServerResponse, createServer, request as httpRequest } from "node:http";
import { type AddressInfo, type Socket, createServer as createNetServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../src/operation/network/listen.ts";
import { type Plan, runConnection } from "./fuzz/connection.ts";
import { openFuzz } from "./fuzz/fuzz.ts";
import { legacyAnswer } from "./fuzz/legacy.ts";

type Mistake = {
  /** Called before a proxied request is sent on; true where it has answered itself. */
  instead?: (request: IncomingMessage, response: ServerResponse, target: string) => boolean;
  /** Changes a proxied answer's body. */
  body?: (body: Buffer) => Buffer;
  /** The number of times that a proxied POST is sent. */
  posts?: number;
  /** The name in its `Via` header. */
  via?: string;
};

/** The upstream's answer; `undefined` if it is not whole, or comes late. */
const forwarded = (url: string, method: string, path: string, sent: Buffer, via: string) =>
  new Promise<{ status: number; body: Buffer } | undefined>((resolve) => {
    const headers = {
      Host: "double",
      Via: via,
      ...(sent.length > 0 ? { "Content-Length": sent.length } : {}),
    };
    const outgoing = httpRequest(url, { method, path, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", fail);
      answer.on("end", () => resolve({ status: answer.statusCode ?? 502, body: Buffer.concat(chunks) }));
    });
    // An error behind a whole answer comes before that answer's end is reported.
    const fail = () => setImmediate(resolve, undefined);
    outgoing.on("error", fail).on("upgrade", (_, socket) => (socket.destroy(), fail()));
    outgoing.setTimeout(800, () => outgoing.destroy());
    outgoing.end(sent);
  });

const detail = (response: ServerResponse, status: number) =>
  response.writeHead(status, { "Content-Type": "application/json" }).end('{"detail":"no"}');

/** A correct gateway with one mistake. It proxies, and answers the new interface with 503. */
const openDouble = async (
  upstream: string,
  { instead, body = (same) => same, posts = 1, via = "1.1 catalog-gateway-double" }: Mistake,
) => {
  const answer = async (incoming: IncomingMessage, response: ServerResponse, sent: Buffer): Promise<unknown> => {
    const target = (incoming.url ?? "/").replace(/^http:\/\/[^/]*/, "");
    const { method = "GET" } = incoming;
    if (instead?.(incoming, response, target) === true) return undefined;
    if (/^\/v1(\/|\?|$)/.test(target)) return detail(response, 503);
    const times = Array.from({ length: method === "POST" ? posts : 1 }, () =>
      forwarded(upstream, method, target, sent, via),
    );
    const given = (await Promise.all(times)).at(-1);
    return given ? response.writeHead(given.status).end(body(given.body)) : detail(response, 502);
  };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("error", () => undefined).on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => void answer(incoming, response, Buffer.concat(chunks)));
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return port;
};

/** The oracle's judgement of a double, sent well-formed requests that it takes in turn. */
const judged = async (mistake: Mistake, limit = 60_000) => {
  const { upstream, run } = await openFuzz({ seed: 5, requests: 240, clients: 8, limit, isPlain: true });
  onTestFinished(() => upstream.close());
  return run(await openDouble(upstream.url, mistake));
};

/** Reads of one dataset without a key are answered with this document. */
const answering =
  (change: (document: { id: number }) => unknown): Mistake["instead"] =>
  ({ method, headers }, response, target) => {
    const id = Number(/^\/v1\/datasets\/(\d+)\/?$/.exec(target)?.[1]);
    const { status, body } = legacyAnswer("GET", `/api/v1/json/data/${id}`, "");
    const isPlain = ["if-none-match", "x-api-key", "authorization"].every((name) => headers[name] === undefined);
    if (Number.isNaN(id) || status !== 200 || method !== "GET" || !isPlain) return false;
    const { data_set_description: document } = JSON.parse(body) as { data_set_description: object };
    const json = JSON.stringify(change({ ...document, id, format: "arff" } as { id: number }));
    response.writeHead(200, { "Content-Type": "application/json" }).end(json);
    return true;
  };

/** Reads of a dataset through the legacy interface are answered with this dataset. */
const answeringOld =
  (change: (id: number) => number, headers: Record<string, string> = {}): Mistake["instead"] =>
  ({ method = "" }, response, target) => {
    const [, before, id, after] = /^(\/api\/v1\/(?:json\/|xml\/)?data\/)(\d+)($|\?.*)/.exec(target) ?? [];
    if (id === undefined || method !== "GET") return false;
    const { status, type, body } = legacyAnswer(method, `${before}${change(Number(id))}${after}`, "");
    response.writeHead(status, { "Content-Type": type, ...headers }).end(body);
    return true;
  };

/** A mistake of each twentieth request. */
const everyTwentieth = (mistake: (socket: Socket) => unknown): Mistake["instead"] => {
  let count = 0;
  return ({ socket }) => ++count % 20 === 0 && (mistake(socket), true);
};

test("finds nothing wrong with a gateway that makes no mistake", async () => {
  const tally = await judged({ instead: answering((document) => document) });
  expect(tally.examples).toEqual([]);
  expect(tally).toMatchObject({ wrong: 0, hung: 0, sent: 240 });
  expect(tally.right).toBeGreaterThan(0);
});

let last: Buffer | undefined;
test.each<[what: string, mistake: Mistake, example: RegExp, limit?: number]>([
  [
    "an answer that was meant for another request",
    { body: (body) => ([last, body] = [body, last ?? body])[1] },
    /wrong: client \d+, connection \d+, a whole answer of \d+ bytes/,
  ],
  ["a body that lacks its end", { body: (body) => body.subarray(0, -1) }, /a whole answer/],
  ["one byte that is changed", { body: (body) => body.fill(0, Math.max(0, body.length - 1)) }, /a whole answer/],
  ["a write that is sent twice", { posts: 2 }, /the upstream received it 2 times/],
  ["a request that the gateway did not make", { via: "1.1 other" }, /towards the upstream, a request that the gateway/],
  [
    "another dataset than the one that was asked for",
    { instead: answering((document) => ({ ...document, id: document.id + 1 })) },
    /id is \d+; right is \d+/,
  ],
  [
    "a private dataset that is shown to others",
    {
      instead(incoming, response, target) {
        const id = Number(/^\/v1\/datasets\/(\d+)/.exec(target)?.[1]);
        if (Number.isNaN(id) || id % 13 !== 0 || incoming.method !== "GET") return false;
        response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ id }));
        return true;
      },
    },
    /status 200; right is 40[134]/,
  ],
  [
    "a dataset that was not asked for, through the legacy interface",
    { instead: answeringOld((id) => id + 1) },
    /wrong: .*status \d+, \d+ bytes.*; right is \d+, \d+ bytes.*GET \/api\/v1\/(json\/|xml\/)?data\/\d+/,
  ],
  [
    "a session in an answer of the legacy interface that may be cached",
    { instead: answeringOld((id) => id, { "Cache-Status": "x; hit", "Set-Cookie": "ci_session=a" }) },
    /a session in a cached answer/,
  ],
  [
    "an error that is no JSON",
    {
      instead: (_, response, target) =>
        target.startsWith("/v1/") && Boolean(response.writeHead(502, { "Content-Type": "text/html" }).end("<h1>")),
    },
    /status 502; right is/,
  ],
  ["requests without an answer", { instead: everyTwentieth(() => undefined) }, /hung: client/, 300],
  [
    "a connection that is closed without an answer",
    { instead: everyTwentieth((socket) => socket.destroy()) },
    /closed without an answer/,
  ],
])("reports %s", async (_, mistake, example, limit) => {
  const tally = await judged(mistake, limit);
  expect(tally.wrong + tally.hung).toBeGreaterThan(0);
  expect(tally.examples.join("\n")).toMatch(example);
});

test("sends the same requests for the same seed", async () => {
  const targets = async () => {
    const seen: string[] = [];
    await judged({
      instead: ({ method }, response, target) => Boolean(seen.push(`${method} ${target}`) && detail(response, 503)),
    });
    return seen.toSorted();
  };
  expect(await targets()).toEqual(await targets());
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
  ["one that has left", { requests: [head], leaves: halfCloses }, REFUSED + OK, [/^an answer that nothing asked for/]],
  ["one that has left, except a refusal of its half request", { requests: [head], leaves: halfCloses }, REFUSED, []],
  ["one that sent what is forbidden", { last: { is: "forbidden", bytes } }, OK, [/^a forbidden request was answered/]],
  [
    "one that sent what is forbidden, and has left",
    { last: { is: "forbidden", bytes }, leaves: halfCloses },
    OK,
    [/^a forbidden request was answered/],
  ],
])("reports an unrequested answer to %s", async (_, plan, answer, reports) => {
  expect(await reportedOf(answer, plan)).toEqual(reports.map((report) => expect.stringMatching(report) as string));
});

test.each<[what: string, last: Plan["last"] & object, answer: string, report: RegExp]>([
  [
    "an error of the server's own",
    { is: "mangled", bytes },
    'HTTP/1.1 500 Error\r\nContent-Length: 34\r\n\r\n{"detail":"Internal Server Error"}',
    /^malformed bytes were answered HTTP\/1.1 500/,
  ],
  ["more answers than requests", { is: "mangled", bytes, most: 2 }, OK.repeat(3), /^more answers than requests/],
])("reports %s behind malformed bytes", async (_, sent, answer, report) => {
  expect(await reportedOf(answer, { last: sent })).toEqual([expect.stringMatching(report)]);
});

const noHttp = /^an answer that is no HTTP/;
const chunked = "Transfer-Encoding: chunked\r\n";

test.each<[rest: string, report: string | RegExp]>([
  ["X-A", "cut: "],
  ["Content-Length: 9\r\n\r\nhello", "cut: hello"],
  [`${chunked}\r\n9\r\nhello`, "cut: hello"],
  [`${chunked}\r\n5\r\nhello\r\n0\r\n`, "cut: hello"],
  [`${chunked}\r\nzz\r\n`, noHttp],
  [`${chunked}\r\n2\r\nabXX0\r\n\r\n`, noHttp],
  [`${chunked}Content-Length: 5\r\n\r\n`, noHttp],
  ["Transfer-Encoding: gzip\r\n\r\n", noHttp],
  ["Content-Length: x\r\n\r\n", noHttp],
])("reports an answer that is no whole message: %j", async (rest, report) => {
  const requests = [{ ...head, method: "GET" }];
  expect(await reportedOf(`HTTP/1.1 200 OK\r\n${rest}`, { requests })).toEqual([expect.stringMatching(report)]);
});
