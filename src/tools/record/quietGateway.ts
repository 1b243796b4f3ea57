import { loadSettings } from "../../settings/load.ts";
import type { Catalogue } from "../../serve/catalogue.ts";
import { openGateway } from "../../serve/gateway.ts";
import { openObserver } from "../../telemetry/observer.ts";
import type { FixtureAsk } from "./exchange.ts";

/** A gateway that nothing but its owner can ask, and what it had to say of each answer. */
export type QuietGateway = {
  ask(ask: FixtureAsk): Promise<{ status: number; body: unknown; mismatch: string[] }>;
  close(): Promise<void>;
};

/** Opens a gateway in this process, with its usual settings but no cache. */
export const openQuietGateway = async (
  catalogue: Catalogue,
  url: string,
  legacyPath?: string,
): Promise<QuietGateway> => {
  const environment = { CACHE_BYTES: "0", LEGACY_URL: url, LEGACY_PATH: legacyPath, PREFIXES: "/v1" };
  const loaded = loadSettings(environment, catalogue.endpoints);
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  let mismatch: string[] = [];
  const observer = {
    ...openObserver("silent"),
    event(name: string, { places }: Record<string, unknown>) {
      if (name === "schema_mismatch") mismatch.push(...(places as string[]));
    },
  };
  const gateway = await openGateway({ ...loaded.settings, LEGACY_URL: url }, catalogue, observer);
  return {
    async ask({ method, path, key, json }) {
      mismatch = [];
      const response = await gateway.app.request(`/v1${path}`, {
        method,
        headers: { "Content-Type": "application/json", ...(key === undefined ? {} : { "X-API-Key": key }) },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      return { status: response.status, body: await response.json(), mismatch };
    },
    close: () => gateway.close(),
  };
};
