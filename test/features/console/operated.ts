import { onTestFinished } from "vitest";
import { startAdminServer } from "../../../src/gateway/operators/adminServer.ts";
import { consoleFor } from "./consoleFor.ts";
import { operatorsListener } from "../../../src/gateway/operators/app.ts";
import type { GuardSettings } from "../../../src/gateway/operators/guard.ts";
import { cachedGateway } from "../../gateway/cache/support.ts";

/** A gateway with its operators' listener. */
export const operated = async (guard: Partial<GuardSettings> = {}, environment: Record<string, string> = {}) => {
  const gateway = await cachedGateway(environment);
  const core = { ...gateway.core, settings: { ...gateway.core.settings, CACHE_BYTES: 1000 } };
  const app = consoleFor({ ...gateway, core }, guard);
  const server = await startAdminServer(operatorsListener(app), { host: "127.0.0.1", port: 0 }, gateway.clientLimits);
  onTestFinished(() => server.stop());
  const see = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { Connection: "close", ...headers } });
  const purge = (json: unknown, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.port}/purge`, {
      method: "POST",
      headers: { Connection: "close", "Content-Type": "application/json", ...headers },
      body: typeof json === "string" ? json : JSON.stringify(json),
    });
  return { ...gateway, adminPort: server.port, see, purge };
};
