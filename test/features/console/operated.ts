import { onTestFinished } from "vitest";
import { startAdminServer } from "../../../src/features/console/adminServer.ts";
import { adminApp } from "../../../src/features/console/todayParts.ts";
import { cachedGateway } from "../../cache/support.ts";

/** A gateway with its operators' listener. */
export const operated = async ({ token, host = "127.0.0.1" }: { token?: string; host?: string } = {}) => {
  const gateway = await cachedGateway();
  const state = { ready: true, dispatches: true };
  const app = adminApp(gateway.services, {
    host,
    token,
    windows: gateway.windows,
    bytes: 1000,
    entryBytes: 100,
    clients: gateway.oldClients.clients,
    isReady: () => state.ready,
    dispatches: () => Promise.resolve(state.dispatches),
  });
  const server = await startAdminServer(app, "127.0.0.1", 0, gateway.clientLimits);
  onTestFinished(() => server.stop());
  const see = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { Connection: "close", ...headers } });
  const purge = (json: unknown, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.port}/purge`, {
      method: "POST",
      headers: { Connection: "close", "Content-Type": "application/json", ...headers },
      body: typeof json === "string" ? json : JSON.stringify(json),
    });
  return { ...gateway, adminPort: server.port, state, see, purge };
};
