import type { RequestListener } from "node:http";
import type { Guard } from "../http/guard.ts";
import { type ClientLimits, openHttpServer } from "../http/httpServer.ts";
import { listen } from "../../operation/index.ts";

/** A bound of their own, so that clients' connections do not keep operators out. */
const MAX_CONNECTIONS = 256;

/** Listens for operators; one that hangs cannot hold up a stop. */
export const startAdminServer = async (
  listener: RequestListener,
  { host, port, guard }: { host: string; port: number; guard?: Guard },
  limits: ClientLimits,
) => {
  const { server } = openHttpServer(
    { requestTimeout: 30_000 },
    { ...limits, maxConnections: MAX_CONNECTIONS },
    listener,
    { trusted: () => false, ...(guard && { guard }) },
  );
  const listening = await listen(server, { host, port });
  return { port: listening.port, stop: listening.close };
};
