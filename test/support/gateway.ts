import { type FeatureParts, loadFeatures } from "../../features/index.ts";
import type { AllSettings } from "../../features/settings.ts";
import type { Additions } from "../../src/gateway/answer/additions.ts";
import type { Core } from "../../src/gateway/answer/core.ts";
import { type GatewayParts as CoreParts, openGateway } from "../../src/gateway/openGateway.ts";
import { openObserver } from "../../src/operation/telemetry/observer.ts";
import { catalogue as served } from "../../transforms/catalogue.ts";
import { settingsOf } from "./settings.ts";

/** Parts of the gateway and of its features that a test replaces. `adding`: in place of what features add. */
export type GatewayParts = CoreParts &
  FeatureParts & { adding?: (core: Core) => Partial<Additions>; catalogue?: typeof served };

/**
 * A gateway in front of this upstream with the features that its settings ask for; documents and the access log only
 * where the environment says so. Nothing listens.
 */
export const gatewayFor = async (
  url: string,
  environment: Record<string, string> = {},
  { adding, catalogue = served, ...parts }: GatewayParts = {},
) => {
  const loaded = settingsOf({ DOCUMENTS: "false", ACCESS_LOG: "off", ...environment, LEGACY_URL: url });
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  // Milliseconds that a store may take, and at the start: `openStores` reads them. A busy machine must not fail a test.
  const settings: AllSettings & { LEGACY_URL: string } = Object.assign(loaded.settings, {
    LEGACY_URL: url,
    timeout: 60_000,
    patience: 60_000,
  });
  const features = await loadFeatures(settings, parts);
  const observer = openObserver("silent");
  observer.define(features.events);
  const { openTier, off } = features;
  const open: typeof features.open = async (core, closing) => ({
    ...(await features.open(core, closing)),
    ...adding?.(core),
  });
  const gateway = await openGateway(settings, catalogue, observer, open, { openTier, ...parts });
  const { consoleParts } = gateway.features;
  return {
    ...gateway,
    off,
    consoleParts,
    clientLimits: gateway.core.clientLimits,
    observer,
  };
};

export type TestGateway = Awaited<ReturnType<typeof gatewayFor>>;
