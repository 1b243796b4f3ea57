import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isBelow, pathOf } from "../../../src/http/requestTarget.ts";
import { trafficMapper } from "../../../src/tools/corpus/mapTraffic.ts";
import type { NamedEndpoint } from "../../../src/tools/corpus/corpusRequest.ts";
import type { Json } from "../../../src/rules/rule.ts";
import { endpoints } from "../../../transforms/index.ts";
import { type Fault, faultSchema, type TransportFault } from "./fault.ts";
import { faultyAnswer } from "./faultyAnswer.ts";
import { openPlay, seenAs } from "./play.ts";
import type { Planted } from "./planted.ts";
import { questionOf } from "./question.ts";
import { openReference } from "./reference.ts";
import { send, type Sendable, transports } from "./transports.ts";
import { openWellAnswered } from "./wellAnswered.ts";

/** A stand-in for the modern backend that listens. */
export type StandIn = {
  /** The URL at which the new interface begins, with its path. */
  url: string;
  port: number;
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
    const { endpoint } = faultSchema.parse(fault);
    if (endpoint !== "*" && !Object.hasOwn(endpoints, endpoint)) throw new Error(`${endpoint}: no such endpoint`);
    return fault;
  });

const endpointOf = ({ method = "", url = "/" }: IncomingMessage, base: string): NamedEndpoint | undefined => {
  const path = pathOf(url);
  if (!isBelow(path, base)) return undefined;
  return routed(path.slice(base.length))?.methods.get(method === "HEAD" ? "GET" : (method as "GET" | "POST"));
};

/** Starts a server of the new interface over a legacy one, with these faults. Port 0: any free one. */
export const startStandIn = async ({
  legacyUrl,
  path = "/v1",
  port = 0,
  faults = [],
  reference = false,
}: {
  legacyUrl: string;
  path?: string;
  port?: number;
  faults?: readonly Fault[];
  /** With the routes and shapes of the public reference implementation, and no others. */
  reference?: boolean;
}): Promise<StandIn> => {
  const base = path === "/" ? "" : path;
  const gateway = await openWellAnswered(legacyUrl, path);
  const well = reference ? openReference(gateway, base) : gateway;
  let play = openPlay(checked(faults));

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { due, add } = play;
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    const endpoint = endpointOf(request, base);
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
  server.on("connection", (socket) => {
    if (!play.isDown) return;
    play.add("*", undefined, [{ fault: "down", seen: { as: "noDocument" } }]);
    socket.resetAndDestroy();
  });
  await new Promise<void>((resolve, reject) => void server.once("error", reject).listen(port, "127.0.0.1", resolve));
  let closing: Promise<void> | undefined;
  const close = async () => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    await well.close();
  };
  const { port: listening } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${listening}${base}`,
    port: listening,
    use: (next) => (play = openPlay(checked(next))),
    planted: () => play.planted(),
    asked: () => ({ ...play.asked }),
    close: () => (closing ??= close()),
  };
};
