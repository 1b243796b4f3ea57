import { hash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readCredential } from "../../src/http/credential.ts";
import { isBelow, pathOf, queryOf } from "../../src/http/requestTarget.ts";
import { trafficMapper } from "../../src/tools/corpus/mapTraffic.ts";
import type { NamedEndpoint } from "../../src/tools/corpus/corpusRequest.ts";
import type { Json } from "../../src/rules/rule.ts";
import { endpoints } from "../../transforms/index.ts";
import type { Fault, TransportFault } from "./fault.ts";
import { faultyAnswer } from "./faultyAnswer.ts";
import { openPlay, seenAs } from "./play.ts";
import type { Planted } from "./planted.ts";
import { openReference } from "./reference.ts";
import { send, type Sendable, transports } from "./transports.ts";
import { openWellAnswered } from "./wellAnswered.ts";

/** Where the new interface begins. */
const BASE = "/v1";

/** A stand-in for the modern backend that listens. */
export type StandIn = {
  /** The URL at which the new interface begins, with its path. */
  url: string;
  /** Replaces the faults, and resets `planted` and `asked`. */
  use(faults: readonly Fault[]): void;
  /** The changes that the faults have really made. */
  planted(): Planted[];
  /** The number of requests by endpoint. */
  asked(): Record<string, number>;
  close(): Promise<void>;
};

const { routed } = trafficMapper(endpoints);

const nothing: Sendable = { status: 500, headers: {}, body: Buffer.alloc(0) };

const isOfTransport = (fault: Fault): fault is Fault & { fault: TransportFault } => fault.fault in transports;

/** Throws for a misspelt fault, which would look like one that the comparison overlooks. */
const checked = (faults: readonly Fault[]): Fault[] =>
  faults.map((fault) => {
    const { endpoint } = fault;
    if (endpoint !== "*" && !Object.hasOwn(endpoints, endpoint)) throw new Error(`${endpoint}: no such endpoint`);
    return fault;
  });

/** The identity of a request and its key. The key cannot be recovered from it. */
const questionOf = ({ method, url = "/", headers }: IncomingMessage, body: Buffer): string => {
  const { key } = readCredential(queryOf(url), (name) => {
    const header = headers[name];
    return Array.isArray(header) ? header.join(", ") : header;
  });
  return hash("sha256", JSON.stringify([method, pathOf(url), body.toString(), key])).slice(0, 24);
};

const endpointOf = ({ method = "", url = "/" }: IncomingMessage): NamedEndpoint | undefined => {
  const path = pathOf(url);
  if (!isBelow(path, BASE)) return undefined;
  return routed(path.slice(BASE.length))?.methods.get(method === "HEAD" ? "GET" : (method as "GET" | "POST"));
};

/** Starts a server of the new interface over a legacy one, with these faults. */
export const startStandIn = async ({
  legacyUrl,
  faults = [],
  reference = false,
}: {
  legacyUrl: string;
  faults?: readonly Fault[];
  /** With the routes and shapes of the public reference implementation, and no others. */
  reference?: boolean;
}): Promise<StandIn> => {
  const gateway = await openWellAnswered(legacyUrl, BASE);
  const well = reference ? openReference(gateway, BASE) : gateway;
  let play = openPlay(checked(faults));

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { due, add } = play;
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    const endpoint = endpointOf(request);
    if (endpoint === undefined) return send(response, await well.answer(request, body));
    const question = questionOf(request, body);
    const wrong = due(endpoint.name, question);
    const transport = wrong.find(isOfTransport);
    if (transport) {
      add(endpoint.name, question, [{ fault: transport.fault, seen: { as: "noDocument" } }]);
      const answer = transport.fault === "down" ? nothing : await well.answer(request, body);
      return transports[transport.fault](response, answer, transport, question);
    }
    const answer = await well.answer(request, body);
    if (wrong.length === 0 || request.method === "HEAD") return send(response, answer);
    const contentType = String(answer.headers["content-type"]);
    const document = JSON.parse(answer.body.toString()) as Json;
    const { answer: faulty, done } = faultyAnswer(
      endpoint.output,
      { status: answer.status, contentType, body: document },
      wrong,
    );
    add(
      endpoint.name,
      question,
      done.map(({ fault, seen }) => ({ fault: fault.fault, seen: { ...seen, as: seenAs(fault, seen.as) } })),
    );
    send(response, {
      status: faulty.status,
      headers: { ...answer.headers, "content-type": faulty.contentType },
      body: Buffer.from(JSON.stringify(faulty.body)),
    });
  };

  const server = createServer((request, response) => {
    // A client that leaves is no error; any other failure must not look like an answer.
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => void server.once("error", reject).listen(0, "127.0.0.1", resolve));
  let closing: Promise<void> | undefined;
  const close = async () => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    await well.close();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`,
    use: (next) => (play = openPlay(checked(next))),
    planted: () => play.planted(),
    asked: () => ({ ...play.asked }),
    close: () => (closing ??= close()),
  };
};
