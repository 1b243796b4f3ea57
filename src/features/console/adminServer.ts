import type { RequestListener } from "node:http";
import { type ClientLimits, openHttpServer } from "../../http/httpServer.ts";

/** A bound of their own, so that clients' connections do not keep operators out. */
const MAX_CONNECTIONS = 256;

/** Listens for operators; one that hangs cannot hold up a stop. */
export const startAdminServer = async (listener: RequestListener, host: string, port: number, limits: ClientLimits) => {
  const { server } = openHttpServer(
    { requestTimeout: 30_000 },
    { ...limits, maxConnections: MAX_CONNECTIONS },
    listener,
  );
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
