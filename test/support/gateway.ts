import { catalogue } from "../../transforms/catalogue.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { type GatewayParts, openGateway } from "../../src/serve/gateway.ts";
import { openObserver } from "../../src/telemetry/observer.ts";
import { redisTier } from "../../src/features/sharedCache/redisTier.ts";

/** What settings may name. */
export const known = catalogue.endpoints;

/** A gateway in front of this upstream, with settings as the environment would give them. Nothing listens. */
export const gatewayFor = (url: string, environment: Record<string, string> = {}, parts: GatewayParts = {}) => {
  const loaded = loadSettings({ ...environment, LEGACY_URL: url }, known);
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  const observer = openObserver("silent");
  return {
    ...openGateway({ ...loaded.settings, LEGACY_URL: url }, catalogue, observer, { redisTier, ...parts }),
    observer,
  };
};
