import type { Server } from "node:http";

/** A server that listens. `close` also ends its open connections. */
export type Listening = { url: string; port: number; close: () => Promise<void> };

/** `http://127.0.0.1:8000`, with an IPv6 address in brackets. */
export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/**
 * Makes a server listen, by default on any free port of the loopback address.
 *
 * @throws The system's error if it cannot listen on the address.
 */
export const listen = async (server: Server, { host = "127.0.0.1", port = 0 } = {}): Promise<Listening> => {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
  const address = server.address();
  const own = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: urlOf(host, own),
    port: own,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
