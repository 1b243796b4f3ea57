import { features } from "../../features/index.ts";
import { loadFeatures } from "../../features/load.ts";
import type { Feature, FeatureModule } from "../../src/gateway/answer/feature.ts";
import type { OpenSharedTier } from "../../src/gateway/cache/sharedTier.ts";
import { type GatewayParts as CoreParts, openGateway } from "../../src/gateway/openGateway.ts";
import { openObserver } from "../../src/operation/telemetry/observer.ts";
import { catalogue } from "../../transforms/catalogue.ts";
import { settingsOf } from "./settings.ts";

/** Parts of the gateway and of its features that a test replaces: each takes those that it knows. */
export type GatewayParts = CoreParts & Record<string, unknown> & TierParts;

/**
 * Milliseconds that a request waits for Redis: on a busy machine 50 are few; and that a gateway waits
 * for the others after a gap.
 */
type TierParts = { redisTimeout?: number; waitForOthers?: number };

/** The shared cache's function that opens the tier. */
type OpenTier = (
  ...about: [...Parameters<NonNullable<FeatureModule["sharedTier"]>>, parts?: TierParts]
) => OpenSharedTier;

/** A feature's function that opens it, and replaces parts of it in tests. */
type Open = (
  ...about: [...Parameters<NonNullable<FeatureModule["open"]>>, parts: object]
) => Feature | Promise<Feature>;

/**
 * A gateway in front of this upstream with the features that its settings ask for; documents and the access log only
 * where the environment says so. Nothing listens.
 */
export const gatewayFor = async (url: string, environment: Record<string, string> = {}, parts: GatewayParts = {}) => {
  const loaded = settingsOf({ DOCUMENTS: "false", ACCESS_LOG: "off", ...environment, LEGACY_URL: url });
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  // Milliseconds that a store may take, and at the start: `openStores` reads them. A busy machine must not fail a test.
  const settings = { ...loaded.settings, LEGACY_URL: url, timeout: 60_000, patience: 60_000 };
  const { modules, off } = await loadFeatures(features, settings);
  const replaced = modules.map(({ open, sharedTier, ...module }): FeatureModule => {
    const openFeature = open as Open | undefined;
    const openTier: OpenTier | undefined = sharedTier;
    return {
      ...module,
      ...(openTier && { sharedTier: (given, about) => openTier(given, about, parts) }),
      ...(openFeature && { open: (core, given) => openFeature(core, given, parts) }),
    };
  });
  const observer = openObserver("silent");
  const gateway = await openGateway(settings, catalogue, observer, { features: replaced, off, ...parts });
  return {
    ...gateway,
    clientLimits: gateway.core.clientLimits,
    observer,
  };
};

export type TestGateway = Awaited<ReturnType<typeof gatewayFor>>;

/** What one of the features has opened under this name; `undefined` where none has. */
export const openedBy = <F extends Feature, Name extends keyof F>(
  { core }: TestGateway,
  name: Name,
): F[Name] | undefined => core.features.flatMap((one) => (name in one ? [(one as F)[name]] : [])).at(0);
