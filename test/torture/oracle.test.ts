import { type IncomingMessage, type ServerResponse, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { openFuzz } from "./fuzz/fuzz.ts";
import { legacyAnswer } from "./fuzz/legacy.ts";

type Mistake = {
  /** Called before a proxied request is sent on; true where it has answered itself. */
  instead?: (request: IncomingMessage, response: ServerResponse, target: string) => boolean;
  /** Changes a proxied answer's body. */
  body?: (body: Buffer, target: string) => Buffer;
  /** Milliseconds that the upstream may take. */
  patience?: number;
  /** How often a proxied request is sent. */
  times?: (method: string) => number;
};

/** A correct gateway with one mistake. It proxies, and answers the new interface with 503. */
const openDouble = async (upstream: string, mistake: Mistake): Promise<number> => {
  const detail = (response: ServerResponse, status: number) =>
    response.writeHead(status, { "Content-Type": "application/json" }).end('{"detail":"no"}');
  const proxy = (incoming: IncomingMessage, response: ServerResponse, target: string, body: Buffer) => {
    const { method = "GET" } = incoming;
    const send = (isLast: boolean) => {
      const headers = { Host: "double", ...(body.length > 0 ? { "Content-Length": body.length } : {}) };
      const outgoing = httpRequest(upstream, { method, path: target, headers, agent: false }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => {
          if (!isLast || response.headersSent) return;
          const whole = Buffer.concat(chunks);
          response.writeHead(answer.statusCode ?? 502).end(mistake.body?.(whole, target) ?? whole);
        });
        answer.on("error", fail);
      });
      // An error behind a whole answer comes before that answer's end is told.
      const fail = () => setImmediate(() => isLast && !response.headersSent && detail(response, 502));
      outgoing.on("error", fail);
      outgoing.on("upgrade", (_, socket) => {
        socket.destroy();
        fail();
      });
      outgoing.setTimeout(mistake.patience ?? 200, () => outgoing.destroy());
      outgoing.end(body);
    };
    const times = mistake.times?.(method) ?? 1;
    for (let i = 1; i <= times; i++) send(i === times);
  };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("error", () => undefined).on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const target = (incoming.url ?? "/").replace(/^http:\/\/[^/]*/, "");
      if (mistake.instead?.(incoming, response, target) === true) return;
      if (/^\/v1(\/|\?|$)/.test(target)) detail(response, 503);
      else proxy(incoming, response, target, Buffer.concat(chunks));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

/** What the oracle says of a double, sent well-formed requests that it takes in turn. */
const judged = async (mistake: Mistake, limit = 5000) => {
  const { upstream, run } = await openFuzz({ seed: 5, requests: 240, clients: 8, limit, isPlain: true });
  onTestFinished(() => upstream.close());
  return run(await openDouble(upstream.url, mistake));
};

type Document = { id: number; name: string; format: string };

/** The new interface's answer to one dataset, as this double makes it. */
const dataset = (target: string, change: (document: Document) => unknown) => {
  const id = Number(/^\/v1\/datasets\/(\d+)\/?$/.exec(target)?.[1]);
  const { status, body } = legacyAnswer("GET", `/api/v1/json/data/${id}`, "");
  if (Number.isNaN(id) || status !== 200) return undefined;
  const { data_set_description: description } = JSON.parse(body) as { data_set_description: { name: string } };
  return JSON.stringify(change({ ...description, id, format: "arff" }));
};
const answering =
  (change: (document: Document) => unknown): Mistake["instead"] =>
  ({ method, headers }, response, target) => {
    const body = dataset(target, change);
    const isPlainRead = method === "GET" && headers["if-none-match"] === undefined;
    if (body === undefined || !isPlainRead || target.includes("api_key") || headers["x-api-key"] !== undefined)
      return false;
    if (headers.authorization !== undefined) return false;
    response.writeHead(200, { "Content-Type": "application/json" }).end(body);
    return true;
  };

describe("the oracle", () => {
  test("finds nothing wrong with a gateway that makes no mistake", async () => {
    const tally = await judged({ instead: answering((document) => document), patience: 1500 });
    expect(tally.examples).toEqual([]);
    expect(tally).toMatchObject({ wrong: 0, hung: 0, sent: 240 });
    expect(tally.right).toBeGreaterThan(100);
  });

  test("reports an answer that was meant for another request", async () => {
    let last: Buffer | undefined;
    const tally = await judged({
      body(body) {
        const before = last ?? body;
        last = body;
        return before;
      },
    });
    expect(tally.wrong).toBeGreaterThan(20);
    expect(tally.examples.join("\n")).toMatch(/wrong: client \d+, connection \d+, a whole answer of \d+ bytes/);
  });

  test("reports a body that lacks its end", async () => {
    const tally = await judged({ body: (body) => body.subarray(0, -1) });
    expect(tally.wrong).toBeGreaterThan(20);
  });

  test("reports one byte that is changed in a body", async () => {
    const tally = await judged({
      body(body) {
        const changed = Buffer.from(body);
        if (changed.length > 0) changed[changed.length - 1] = 0;
        return changed;
      },
    });
    expect(tally.wrong).toBeGreaterThan(20);
  });

  test("reports a write that is sent twice", async () => {
    const tally = await judged({ times: (method) => (method === "POST" ? 2 : 1) });
    expect(tally.examples.join("\n")).toContain("the upstream received it 2 times");
  });

  test("reports another dataset than the one that was asked for", async () => {
    const tally = await judged({ instead: answering((document) => ({ ...document, id: document.id + 1 })) });
    expect(tally.examples.join("\n")).toMatch(/id is \d+; right is \d+/);
  });

  test("reports a private dataset that is shown to others", async () => {
    const tally = await judged({
      instead(incoming, response, target) {
        const id = Number(/^\/v1\/datasets\/(\d+)/.exec(target)?.[1]);
        if (Number.isNaN(id) || id % 13 !== 0 || incoming.method !== "GET") return false;
        response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ id }));
        return true;
      },
    });
    expect(tally.examples.join("\n")).toMatch(/status 200; right is 40[134]/);
  });

  test("reports an error that is no JSON", async () => {
    const tally = await judged({
      instead(_, response, target) {
        if (!target.startsWith("/v1/")) return false;
        response.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad Gateway</h1>");
        return true;
      },
    });
    expect(tally.wrong).toBeGreaterThan(20);
  });

  test("reports requests without an answer as hung", async () => {
    let count = 0;
    const tally = await judged({ instead: () => ++count % 20 === 0 }, 300);
    expect(tally.hung).toBeGreaterThan(2);
    expect(tally.examples.join("\n")).toContain("hung: client");
  });

  test("reports a connection that is closed without an answer", async () => {
    let count = 0;
    const tally = await judged({
      instead({ socket }) {
        if (++count % 20 !== 0) return false;
        socket.destroy();
        return true;
      },
    });
    expect(tally.examples.join("\n")).toContain("closed without an answer");
  });

  test("sends the same requests for the same seed", async () => {
    const targets = async () => {
      const seen: string[] = [];
      await judged({
        instead(incoming, response, target) {
          seen.push(`${incoming.method} ${target}`);
          response.writeHead(503, { "Content-Type": "application/json" }).end('{"detail":"no"}');
          return true;
        },
      });
      return seen.toSorted();
    };
    expect(await targets()).toEqual(await targets());
  });
});
