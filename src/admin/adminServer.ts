import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";

/** Listens for operators; one that hangs cannot hold up a stop. */
export const startAdminServer = async (app: Hono, host: string, port: number) => {
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, hostname: "localhost" });
  const server = createServer({ requestTimeout: 30_000 }, (request, response) => void listener(request, response));
  await new Promise<void>((resolve, reject) => void server.once("error", reject).listen(port, host, resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
