import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import {
  type AddressInfo,
  type Server as NetServer,
  type Socket,
  connect,
  createServer as createNetServer,
} from "node:net";
import { expect, onTestFinished } from "vitest";
import { type PassThroughOptions, passThrough } from "../../../src/gateway/proxy/passThrough.ts";
import { legacyTargets } from "../../../src/catalogue/index.ts";
import { type ClientLimits, openHttpServer } from "../../../src/gateway/http/httpServer.ts";
import { openOwnErrors } from "../../../src/gateway/http/ownErrors.ts";
import { openErrorFormats } from "../../../src/gateway/http/problemDetails.ts";
import { type Upstream, type UpstreamSettings, openUpstream } from "../../../src/gateway/upstream/upstream.ts";

import { openMeter } from "../../../src/operation/telemetry/meter.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { roomyLimits } from "../http/openServer.ts";
import { readRawRequests } from "../../support/rawRequests.ts";
import { until } from "../../support/waiting.ts";

/** The settings that a test may change. */
export type ProxySettings = Partial<
  Omit<UpstreamSettings, "origin"> & PassThroughOptions & { limits: Partial<ClientLimits> }
>;

/** A pass-through under test. `events`: its reports. `listener`: the function that it runs. */
export type RunningProxy = {
  port: number;
  upstream: Upstream;
  uploads: Upstream;
  events: Record<string, unknown>[];
  listener: (req: IncomingMessage, res: ServerResponse) => void;
};

const listening = async (server: Server | NetServer): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    const closed = new Promise((resolve) => {
      server.close(resolve);
    });
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  return portOf(server);
};

const portOf = (server: Server | NetServer): number => {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return address.port;
};

export const originOf = (port: number): string => `http://127.0.0.1:${port}`;

/** An upstream of node:http. */
export const httpUpstream = async (listener: RequestListener): Promise<string> =>
  originOf(await listening(createServer(listener)));

/**
 * An upstream that writes bytes itself: called once a request with its head and body, the connection
 * and the request's number.
 */
export const rawUpstream = async (
  answer: (socket: Socket, request: string, number: number) => void,
): Promise<{ origin: string; requests: string[]; connections: () => number }> => {
  const requests: string[] = [];
  let connections = 0;
  const server = createNetServer((socket) => {
    connections++;
    readRawRequests(socket, (request) => {
      requests.push(request);
      answer(socket, request, requests.length);
    });
  });
  return { origin: originOf(await listening(server)), requests, connections: () => connections };
};

const { legacyPaths, legacyWrites } = catalogue;
const readTarget = legacyTargets("/api/v1", legacyPaths);
const ownErrors = openOwnErrors({
  prefixes: ["/v1"],
  corsOrigins: ["*"],
  formats: openErrorFormats(["/v1"]),
  files: legacyPaths.files,
  readTarget,
  knowledge: legacyWrites,
});

/** A pass-through with short timeouts in front of `origin`. */
export const openProxy = async (origin: string, settings: ProxySettings = {}): Promise<RunningProxy> => {
  const events: Record<string, unknown>[] = [];
  const { host, trusted = () => false, observe, headers = [], substituteFor, limits, ...rest } = settings;
  const times = { connectTimeout: 2000, headersTimeout: 8000, bodyTimeout: 8000 };
  const onFault = (fault: unknown): void => void events.push({ fault });
  const opened = () => openUpstream({ origin, connections: 4, waiting: 100, ...times, onFault, ...rest });
  const [upstream, uploads] = [opened(), opened()];
  onTestFinished(async () => {
    await upstream.pool.destroy();
    await uploads.pool.destroy();
  });
  const { begin, pass } = passThrough(upstream, uploads, {
    host,
    trusted,
    observer: { event: (_, about) => void events.push(about), fault: onFault },
    meter: openMeter(() => ({})),
    ...(observe ? { observe } : {}),
    headers,
    ...(substituteFor ? { substituteFor } : {}),
    noteLoop: () => undefined,
  });
  const nothing = () => undefined;
  const listener: RequestListener = (req, res) => begin(req, res, () => pass(req, res, nothing));
  const server = openHttpServer({}, { ...roomyLimits, ...limits }, listener, { trusted: () => false, ownErrors });
  return {
    port: await listening(server.server),
    upstream,
    uploads,
    events,
    listener,
  };
};

/** Everything a client got on one connection, byte for byte (latin1), and whether the connection was reset. */
type Received = { head: string; body: string; text: string; reset: boolean };

/** Sends bytes on one connection and collects the answer bytes until it ends. */
export const send = (port: number, ...parts: (string | Buffer)[]): Promise<Received> =>
  new Promise((resolve) => {
    let text = "";
    let reset = false;
    const socket = connect(port, "127.0.0.1");
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("error", () => (reset = true));
    socket.on("close", () => {
      const end = text.indexOf("\r\n\r\n");
      resolve({ head: text.slice(0, end), body: text.slice(end + 4), text, reset });
    });
    for (const part of parts) socket.write(part);
  });

/** `get("/a", "X-A: b")` -> the bytes of a request that closes its connection. */
export const get = (path: string, ...headers: string[]): string => request(`GET ${path}`, ...headers);

/** As `get`, for any method; a body goes in a further part. */
export const request = (line: string, ...headers: string[]): string =>
  `${[`${line} HTTP/1.1`, "Host: front.example", ...headers, "Connection: close"].join("\r\n")}\r\n\r\n`;

/** Expects the gateway to hold no place and to answer still; the last line of every nasty test. */
export const expectHealthy = async ({ port, upstream, uploads }: RunningProxy): Promise<void> => {
  const isIdle = ({ semaphore: { running, waiting } }: Upstream) => running + waiting === 0;
  await until(() => isIdle(upstream) && isIdle(uploads));
  const { head, body } = await send(port, get("/healthy"));
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(body).toBe("healthy");
};

export const healthy = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nhealthy";
