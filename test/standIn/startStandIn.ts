import { pathOf, queryOf } from "../../src/catalogue/endpoint/target.ts";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { readCredential } from "../../src/catalogue/endpoint/credential.ts";
import { listen } from "../../src/operation/network/listen.ts";
import { isBelow } from "../../src/gateway/http/requestTarget.ts";
import type { Json } from "../../src/catalogue/rules/rule.ts";
import type { NamedEndpoint } from "../../src/catalogue/endpoint/endpoint.ts";
import { routeTable } from "../../tools/corpus/mapModernPath.ts";
import { endpoints } from "../../transforms/index.ts";
import { gatewayFor, type TestGateway } from "../support/gateway.ts";
import { type Fault, faultyAnswer, hashOf, type Seen, type TransportFault } from "./faults.ts";
import { likeReference } from "./reference.ts";

/** Where the new interface begins. */
const BASE = "/v1";

/** An answer that could be sent. */
export type Sendable = { status: number; headers: OutgoingHttpHeaders; body: Buffer };
/** Gives the right answer of the new interface. */
export type Answering = (request: IncomingMessage, body: Buffer) => Promise<Sendable>;

/**
 * The effect of a fault on answers of an endpoint, to how many requests; without a path if it left no document.
 */
export type Planted = { endpoint: string; fault: Fault["fault"]; questions: number } & (Seen | { as: "noDocument" });

/**
 * Headers that would change the answer to less than the whole document, or make a chain of gateways look like a loop.
 */
const leftOut = new Set("via accept-encoding if-none-match if-modified-since host connection expect".split(" "));
/** Headers that are wrong for a changed document, or are about this gateway only. */
const keptBack = new Set("etag content-length cache-status server-timing".split(" "));

/** Answers as this gateway does. */
const answerBy =
  ({ app }: TestGateway): Answering =>
  async (incoming, body) => {
    const { method = "GET", url = "/" } = incoming;
    const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
      leftOut.has(name) ? [] : values.map((value): [string, string] => [name, value]),
    );
    // A body has been read already; without a body, the target is taken as it was sent.
    const asked =
      method === "POST"
        ? await app.fetch(new Request(new URL(url, "http://stand-in"), { method, headers, body }))
        : await app.fetch(new Request("http://stand-in/", { method, headers }), { incoming });
    return {
      status: asked.status,
      headers: Object.fromEntries([...asked.headers].filter(([name]) => !keptBack.has(name))),
      body: Buffer.from(await asked.arrayBuffer()),
    };
  };

const send = (response: ServerResponse, { status, headers, body }: Sendable): void => {
  response.writeHead(status, body.length === 0 ? headers : { ...headers, "Content-Length": body.length }).end(body);
};

/** True if the client is still there after `ms` milliseconds. */
const isThereAfter = async (response: ServerResponse, ms: number): Promise<boolean> => {
  const left = new AbortController();
  const leave = () => left.abort();
  response.once("close", leave);
  await wait(ms, undefined, { signal: left.signal }).catch(() => undefined);
  response.off("close", leave);
  return !response.destroyed;
};

/** The way in which each fault sends an answer. */
const transports: Record<TransportFault, (response: ServerResponse, answer: Sendable, fault: Fault) => unknown> = {
  down: (response) => response.socket?.resetAndDestroy(),
  async late(response, answer, { ms = 3000 }) {
    if (await isThereAfter(response, ms)) send(response, answer);
  },
  halfBody: (response, { status, headers, body }) =>
    response
      .writeHead(status, { ...headers, "Content-Length": body.length })
      .write(body.subarray(0, body.length >> 1), () => response.socket?.destroySoon()),
  html: (response, { status, headers }) =>
    send(response, {
      status,
      headers: { ...headers, "content-type": "text/html; charset=utf-8" },
      body: Buffer.from("<!DOCTYPE html>\n<html><body><h1>Error</h1></body></html>\n"),
    }),
  async dripping(response, { status, headers, body }) {
    response.writeHead(status, { ...headers, "Content-Length": body.length });
    for (let i = 0; i < body.length; i++) {
      response.write(body.subarray(i, i + 1));
      if (!(await isThereAfter(response, 100))) return;
    }
    response.end();
  },
  redirect: (response) => send(response, { status: 302, headers: { Location: "/elsewhere" }, body: Buffer.alloc(0) }),
};

const routed = routeTable(Object.entries(endpoints).map(([name, endpoint]) => ({ ...endpoint, name })));

const endpointOf = ({ method = "", url = "/" }: IncomingMessage): NamedEndpoint | undefined => {
  const path = pathOf(url);
  if (!isBelow(path, BASE)) return undefined;
  return routed(path.slice(BASE.length))?.methods.get(method === "HEAD" ? "GET" : (method as "GET" | "POST"));
};

/** The identity of a request: its target, its body and its caller. */
const questionOf = ({ method, url = "/", headers }: IncomingMessage, body: Buffer): string => {
  const { key } = readCredential(queryOf(url), (name) => headers[name]?.toString());
  return JSON.stringify([method, pathOf(url), body.toString(), key]);
};

/**
 * A server of the new interface over a legacy one, with these faults. `reference`: as the public
 * reference implementation answers.
 */
export const startStandIn = async ({
  legacyUrl,
  faults = [],
  reference = false,
}: {
  legacyUrl: string;
  faults?: readonly Fault[];
  reference?: boolean;
}) => {
  const gateway = await gatewayFor(legacyUrl, { CACHE_BYTES: "0", PREFIXES: BASE });
  const answerWell = reference ? likeReference(answerBy(gateway), BASE) : answerBy(gateway);
  let inForce: readonly Fault[] = [];
  const [known, planted] = [new Set<string>(), new Map<string, { one: Planted; questions: Set<string> }>()];
  let asked: Record<string, number> = {};

  /**
   * Replaces the faults, and forgets all requests and planted faults. Throws for a misspelt endpoint: its
   * fault would look overlooked.
   */
  const use = (next: readonly Fault[]): void => {
    const wrong = next.find(({ endpoint }) => endpoint !== "*" && !Object.hasOwn(endpoints, endpoint));
    if (wrong) throw new Error(`${wrong.endpoint}: no such endpoint`);
    [inForce, asked] = [next, {}];
    known.clear();
    planted.clear();
  };
  use(faults);

  const plant = (endpoint: string, question: string, { fault }: Fault, seen: Seen | { as: "noDocument" }): void => {
    const key = JSON.stringify([endpoint, seen, "path" in seen ? "" : fault]);
    const { questions } = planted.get(key) ?? { questions: new Set<string>() };
    planted.set(key, { one: { endpoint, fault, ...seen, questions: questions.add(question).size }, questions });
  };
  /** The faults for this request, in their order: each for the same requests in every run. */
  const dueFor = (endpoint: string, question: string): Fault[] => {
    asked[endpoint] = (asked[endpoint] ?? 0) + 1;
    const isFirst = !known.has(question);
    known.add(question);
    return inForce.filter(({ share = 100, ...fault }) => {
      const isIts = [endpoint, "*"].includes(fault.endpoint) && question.includes(fault.within ?? "");
      const isInShare = (hashOf(`${JSON.stringify(fault)} ${question}`) % 10_000) / 100 < share;
      return isIts && isInShare && (fault.again !== false || isFirst);
    });
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    const endpoint = endpointOf(request);
    if (endpoint === undefined) return send(response, await answerWell(request, body));
    const question = questionOf(request, body);
    const due = dueFor(endpoint.name, question);
    const broken = due.find(({ fault }) => fault in transports);
    if (broken?.fault === "down") plant(endpoint.name, question, broken, { as: "noDocument" });
    if (broken?.fault === "down") return response.socket?.resetAndDestroy();
    const answer = await answerWell(request, body);
    if (broken) {
      plant(endpoint.name, question, broken, { as: "noDocument" });
      return transports[broken.fault as TransportFault](response, answer, broken);
    }
    if (due.length === 0 || request.method === "HEAD") return send(response, answer);
    const whole = {
      status: answer.status,
      contentType: String(answer.headers["content-type"]),
      body: JSON.parse(answer.body.toString()) as Json,
    };
    const { answer: faulty, done } = faultyAnswer(endpoint.output, whole, due);
    for (const { fault, seen } of done) plant(endpoint.name, question, fault, seen);
    const headers = { ...answer.headers, "content-type": faulty.contentType };
    return send(response, { status: faulty.status, headers, body: Buffer.from(JSON.stringify(faulty.body)) });
  };

  const server = createServer((request, response) => {
    // A client that leaves is no error; any other failure must not look like an answer.
    serve(request, response).catch(() => response.destroy());
  });
  const listening = await listen(server);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await listening.close();
    await gateway.close();
  };
  return {
    /** The URL at which the new interface begins, with its path. */
    url: listening.url + BASE,
    use,
    /** The changes that the faults have really made. */
    planted: (): Planted[] => [...planted.values()].map(({ one }) => one),
    /** The number of requests by endpoint. */
    asked: () => ({ ...asked }),
    close: () => (closing ??= close()),
  };
};

/** A stand-in for the new implementation that listens. */
export type StandIn = Awaited<ReturnType<typeof startStandIn>>;
