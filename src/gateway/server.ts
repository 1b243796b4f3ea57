import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Gateway } from "./gateway.ts";
import { authorityOf, isBelow, originForm, pathOf } from "./paths.ts";

/** A listening server that can be stopped without cutting a request. */
export type RunningServer = {
  port: number;
  /** Takes no new connections, answers what is in flight; true where all was answered within `timeout` ms. */
  stop(timeout: number): Promise<boolean>;
};

/** Long enough for a request that is on its way to an idle connection. */
const GRACE_MS = 250;

export const startServer = async (
  gateway: Gateway,
  { host, port, prefixes }: { host: string; port: number; prefixes: readonly string[] },
): Promise<RunningServer> => {
  const ours = getRequestListener((request, env) => gateway.app.fetch(request, env), {
    overrideGlobalObjects: false,
    // HTTP/1.0 has no Host.
    hostname: "localhost",
    errorHandler: () =>
      new Response('{"detail":"Bad Request"}', { status: 400, headers: { "Content-Type": "application/json" } }),
  });
  let stopping = false;
  // A prefix of "/" leaves it to the router what is ours.
  const isOurs = (path: string) => prefixes.some((prefix) => prefix === "/" || isBelow(path, prefix));
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    if (stopping) response.shouldKeepAlive = false;
    // RFC 9112, 3.2: HTTP/1.1 has a Host, and the one of an absolute target counts.
    if (request.headers.host === undefined && request.httpVersion === "1.1")
      return refuseRequest(response, 400, "Bad Request");
    if (gateway.front.answer(request, response)) return;
    const target = originForm(request.url ?? "/");
    if (!isOurs(pathOf(target))) return gateway.passThrough(request, response);
    const authority = authorityOf(request.url ?? "/");
    if (authority !== undefined) request.headers.host = authority;
    request.url = target;
    return void ours(request, response);
  };
  const server = createServer(
    {
      // An upload may take longer than any fixed time; silence within one is bounded by the pass-through.
      requestTimeout: 0,
      headersTimeout: 60_000,
      // Longer than load balancers keep an idle connection: the side that closes first must not be ours.
      keepAliveTimeout: 75_000,
      optimizeEmptyRequests: true,
      // Node refuses a request without a Host with an empty body: the listener does it in our format.
      requireHostHeader: false,
    },
    listener,
  );
  server.on("clientError", refuse);
  server.on("checkExpectation", (_, response) => refuseRequest(response, 417, "Expectation Failed"));
  await new Promise<void>((resolve, reject) => void server.once("error", reject).listen(port, host, resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    async stop(timeout) {
      stopping = true;
      return drain(server, timeout);
    },
  };
};

const refuseRequest = (response: ServerResponse, status: number, detail: string): void => {
  response.shouldKeepAlive = false;
  const body = JSON.stringify({ detail });
  response
    .writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) })
    .end(body);
};

const drain = (server: Server, timeout: number): Promise<boolean> =>
  new Promise((resolve) => {
    // http.Server's own close() cuts idle connections at once, and with them a request that is just arriving.
    NetServer.prototype.close.call(server, () => finish(true));
    const idle = setInterval(() => server.closeIdleConnections(), GRACE_MS);
    const late = setTimeout(() => {
      finish(false);
      server.closeAllConnections();
    }, timeout);
    const finish = (whole: boolean) => {
      clearInterval(idle);
      clearTimeout(late);
      resolve(whole);
    };
  });

const statusLines: Record<string, string> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** What is no HTTP gets its answer in our format too. */
const refuse = (error: Error & { code?: string }, socket: Socket & { _httpMessage?: ServerResponse | null }): void => {
  // Nothing may be written into an answer that has begun.
  if (!socket.writable || error.code === "ECONNRESET" || socket._httpMessage?.headersSent) {
    socket.destroy();
    return;
  }
  const line = statusLines[error.code ?? ""] ?? "400 Bad Request";
  const body = JSON.stringify({ detail: line.slice(4) });
  socket.end(
    `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
};
