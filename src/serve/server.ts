import { Server as NetServer } from "node:net";
import type { Server } from "node:http";
import { openHttpServer } from "../http/httpServer.ts";
import type { Gateway } from "./gateway.ts";
import { isBelow, pathOf } from "../http/requestTarget.ts";

/** A listening server that can be stopped without cutting a request. */
export type RunningServer = {
  port: number;
  /** Takes no new connections, answers what is in flight; true where all was answered within `timeout` ms. */
  stop(timeout: number): Promise<boolean>;
};

/** `http://127.0.0.1:8000`, with an IPv6 address in brackets. */
export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Why the start fails where an address is taken or does not exist; `settings` names what sets it. */
export const cannotListen = (settings: string, host: string, port: number, error: NodeJS.ErrnoException): string =>
  `${settings}: ${host}:${port} cannot be listened on (${error.code ?? error.message}); allowed is a free port of this machine`;

/** Long enough for a request that is on its way to an idle connection. */
const GRACE_MS = 250;

/** Listens for clients. Rejects where the address is taken or does not exist. */
export const startServer = async (
  gateway: Gateway,
  { host, port, prefixes }: { host: string; port: number; prefixes: readonly string[] },
): Promise<RunningServer> => {
  let stopping = false;
  // A prefix of "/" leaves it to the router what is ours.
  const isOurs = (path: string) => prefixes.some((prefix) => prefix === "/" || isBelow(path, prefix));
  const { server, unsent, connections, hasWaiting } = openHttpServer(
    {
      // An upload may take longer than any fixed time; silence within one is bounded by the pass-through.
      requestTimeout: 0,
      headersTimeout: 60_000,
      // Longer than load balancers keep an idle connection: the side that closes first must not be ours.
      keepAliveTimeout: 75_000,
      optimizeEmptyRequests: true,
    },
    gateway.core.clientLimits,
    (request, response) => {
      // What waits behind it is answered as well.
      if (stopping && !hasWaiting(request.socket)) response.shouldKeepAlive = false;
      if (gateway.hitPath.answer(request, response)) return;
      if (isOurs(pathOf(request.url ?? "/"))) void gateway.app.listen(request, response);
      else gateway.passThrough(request, response);
    },
  );
  const { meter } = gateway.services;
  meter.gauge("client_connections", "Connections of clients.", () => connections().open);
  meter.total(
    "refused_connections",
    "Connections refused because of MAX_CLIENT_CONNECTIONS.",
    () => connections().refused,
  );
  meter.gauge("unsent_bytes", "Bytes of answers that clients have not taken yet.", () => unsent.total);
  meter.total("slow_clients", "Connections reset because of SEND_TIMEOUT_MS.", () => unsent.timedOut);
  meter.total("crowded_answers", "Answers refused because of MAX_SEND_BYTES.", () => unsent.refused);
  meter.total("crowded_out", "Connections reset because of MAX_SEND_BYTES.", () => unsent.crowdedOut);
  await new Promise<void>((resolve, reject) => void server.once("error", reject).listen(port, host, resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    async stop(timeout) {
      stopping = true;
      gateway.beginStop();
      return drain(server, timeout);
    },
  };
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
