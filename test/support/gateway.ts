import { migrationFeature, type MigrationParts } from "../../src/features/migration/feature.ts";
import { memoryStateStore } from "../../src/features/migration/store/stateStore.ts";
import { privateDatasetsFeature, type PrivateDatasetsParts } from "../../src/features/privateDatasets/feature.ts";
import { memoryIndexStore } from "../../src/features/privateDatasets/store/indexStore.ts";
import { rateLimitFeature } from "../../src/features/rateLimit/feature.ts";
import { type RateLimitSettings, rateLimitSettings } from "../../src/features/rateLimit/settings.ts";
import { retirementFeature } from "../../src/features/retirement/feature.ts";
import { webhookFeature } from "../../src/features/webhook/feature.ts";
import { sharedCacheFeature } from "../../src/features/sharedCache/feature.ts";
import type { Core, Feature, FeatureModule } from "../../src/serve/feature.ts";
import { type GatewayParts as CoreParts, openGateway } from "../../src/serve/gateway.ts";
import type { Settings } from "../../src/settings/settings.ts";
import { openObserver } from "../../src/telemetry/observer.ts";
import { catalogue } from "../../transforms/catalogue.ts";
import { fragments, settingsOf } from "./settings.ts";

/** Parts of a gateway that a test replaces. Without them nothing that features store outlives the gateway. */
export type GatewayParts = CoreParts &
  MigrationParts &
  Pick<PrivateDatasetsParts, "walk"> & {
    openIndexStore?: PrivateDatasetsParts["openStore"];
  };

/** A gateway in front of this upstream with all features that its settings ask for, but the console. Nothing listens. */
export const gatewayFor = async (
  url: string,
  environment: Record<string, string> = {},
  {
    store = memoryStateStore(),
    expected = [],
    times,
    openIndexStore = memoryIndexStore,
    walk,
    ...parts
  }: GatewayParts = {},
) => {
  const loaded = settingsOf({ ...environment, LEGACY_URL: url });
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  const { settings } = loaded;
  type Opened = {
    migration: Awaited<ReturnType<typeof migrationFeature.open>>["migration"];
    privateRows: ReturnType<typeof privateDatasetsFeature.open>["privateRows"];
    oldClients: Awaited<ReturnType<typeof retirementFeature.open>>["retirement"];
  };
  const opened: Partial<Opened> = {};
  const modules: FeatureModule[] = [
    ...(environment["WEBHOOK_URL"] === undefined ? [] : [webhookFeature as unknown as FeatureModule]),
    ...(settings.REDIS_URL === undefined ? [] : [sharedCacheFeature as unknown as FeatureModule]),
    {
      open(core: Core, given: Settings): Feature {
        const feature = privateDatasetsFeature.open(core, given as Parameters<typeof privateDatasetsFeature.open>[1], {
          openStore: openIndexStore,
          ...(walk ? { walk } : {}),
        });
        opened.privateRows = feature.privateRows;
        return feature;
      },
    },
    {
      async open(core: Core, given: Settings): Promise<Feature> {
        const feature = await migrationFeature.open(core, given as Parameters<typeof migrationFeature.open>[1], {
          store,
          expected,
          ...(times ? { times } : {}),
        });
        opened.migration = feature.migration;
        return feature;
      },
    },
    {
      async open(core: Core, given: Settings): Promise<Feature> {
        const feature = await retirementFeature.open(core, given as Parameters<typeof retirementFeature.open>[1]);
        opened.oldClients = feature.retirement;
        return feature;
      },
    },
    ...(rateLimitSettings.isOn(settings as RateLimitSettings) ? [rateLimitFeature as unknown as FeatureModule] : []),
  ];
  const observer = openObserver("silent");
  const gateway = await openGateway({ ...settings, LEGACY_URL: url }, catalogue, observer, {
    features: modules,
    off: fragments.flatMap(({ isOn, whenOff }) => (whenOff && isOn?.(settings) === false ? whenOff : [])),
    ...parts,
  });
  const { migration: moving, privateRows, oldClients } = opened as Opened;
  return {
    ...gateway,
    services: { ...gateway.services, migration: moving, ...(privateRows ? { privateRows } : {}) },
    oldClients,
    clientLimits: gateway.core.clientLimits,
    windows: gateway.core.lifetimes,
    observer,
  };
};

export type TestGateway = Awaited<ReturnType<typeof gatewayFor>>;
