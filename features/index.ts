import type { Additions, Core, OpenSecondTier, Started, TierOptions } from "../src/gateway/index.ts";
import { coreEvents, type EventDefinitions, type SettingsFragment } from "../src/operation/index.ts";
import type { ConsolePart } from "../libraries/ui/consolePart.ts";
import type { AccessLogParts } from "./accessLog/feature.ts";
import type { MigrationParts } from "./migration/feature.ts";
import type { PrivateDatasetsParts } from "./privateDatasets/feature.ts";
import type { TierParts } from "./sharedCache/feature.ts";
import type { TracingParts } from "./tracing/feature.ts";
import { type AllSettings, fragmentOf, fragments } from "./settings.ts";

/** Loads the features that are on, all at once: a start loads only what its settings need. */
const load = (isOn: (fragment: SettingsFragment) => boolean) =>
  awaitEach({
    stores: featureOf(import("../libraries/stores/feature.ts")),
    sharedCache: isOn(fragmentOf.sharedCache) ? featureOf(import("./sharedCache/feature.ts")) : undefined,
    diskCache: isOn(fragmentOf.diskCache) ? featureOf(import("./diskCache/feature.ts")) : undefined,
    webhook: isOn(fragmentOf.webhook) ? featureOf(import("./webhook/feature.ts")) : undefined,
    privateDatasets: isOn(fragmentOf.privateDatasets) ? featureOf(import("./privateDatasets/feature.ts")) : undefined,
    migration: featureOf(import("./migration/feature.ts")),
    retirement: featureOf(import("./retirement/feature.ts")),
    rateLimit: featureOf(import("./rateLimit/feature.ts")),
    accessLog: isOn(fragmentOf.accessLog) ? featureOf(import("./accessLog/feature.ts")) : undefined,
    tracing: isOn(fragmentOf.tracing) ? featureOf(import("./tracing/feature.ts")) : undefined,
    documents: isOn(fragmentOf.documents) ? featureOf(import("./documents/feature.ts")) : undefined,
    incidents: featureOf(import("./incidents/feature.ts")),
    console: featureOf(import("./console/feature.ts")),
  });

const featureOf = async <Feature>(module: Promise<{ feature: Feature }>): Promise<Feature> => (await module).feature;

/** Waits for each value of an object. */
const awaitEach = async <Values extends object>(values: Values) =>
  Object.fromEntries(
    await Promise.all(Object.entries(values).map(async ([name, value]) => [name, (await value) as unknown])),
  ) as { [Name in keyof Values]: Awaited<Values[Name]> };

type Loaded = Awaited<ReturnType<typeof load>>;

const eventsOf = (loaded: Loaded): EventDefinitions =>
  Object.assign(
    {},
    ...Object.values(loaded).map((feature) => (feature && "events" in feature ? feature.events : {})),
  ) as EventDefinitions;

/** All events: the core's, and those of features. */
export const allEvents = async (): Promise<EventDefinitions> => ({
  ...coreEvents,
  ...eventsOf(await load(() => true)),
});

/** Parts of features that tests replace. */
export type FeatureParts = MigrationParts & PrivateDatasetsParts & TierParts & AccessLogParts & TracingParts;

/** Loads the features that these settings ask for. `openTier` and `open` are arguments of `openGateway`. */
export const loadFeatures = async (settings: AllSettings, parts: FeatureParts = {}) => {
  const isOn = (fragment: SettingsFragment): boolean => fragment.isOn?.(settings) ?? true;
  const loaded = await load(isOn);
  const { sharedCache } = loaded;
  const disk = loaded.diskCache?.open(settings);
  return {
    events: eventsOf(loaded),
    /** The lines about features that are not loaded. */
    off: fragments.flatMap((fragment: SettingsFragment) => (isOn(fragment) ? [] : (fragment.whenOff ?? []))),
    openTier: sharedCache
      ? (options: TierOptions): OpenSecondTier => sharedCache.sharedTier(settings, options, parts)
      : disk && ((options: TierOptions): OpenSecondTier | undefined => disk.openTier(options)),
    open: (core: Core, closing: AsyncDisposableStack) =>
      openFeatures(core, closing, { ...loaded, disk }, settings, parts),
    /** Adds the page to the operators' listener, once the gateway is put together. */
    openConsole: loaded.console.open,
  };
};

/** Opens each feature with the parts of the core and of other features that it uses. The last is closed first. */
const openFeatures = async (
  core: Core,
  closing: AsyncDisposableStack,
  loaded: Loaded & { disk: ReturnType<NonNullable<Loaded["diskCache"]>["open"]> | undefined },
  settings: AllSettings,
  parts: FeatureParts,
) => {
  const closed = closedBy(closing);
  const stores = closed(await loaded.stores.open(core, settings));
  const webhook = closed(loaded.webhook?.open(core, settings));
  const privateDatasets = closed(await loaded.privateDatasets?.open(core, stores, settings, parts));
  const writes = core.openWrites(some(privateDatasets?.onWrite));
  const migration = closed(await loaded.migration.open(core, { stores, writes }, settings, parts));
  const retirement = closed(await loaded.retirement.open(core, stores, settings));
  const rateLimit = await loaded.rateLimit.open(core, stores, settings);
  const accessLog = loaded.accessLog?.open(core, settings, parts);
  const tracing = closed(loaded.tracing?.open(settings, parts));
  const documents = loaded.documents?.open(core, settings);
  const incidents = closed(await loaded.incidents.open(core, stores));
  const disk = await loaded.disk?.open(core);

  // The order counts in steps and layers; in other lists it means nothing.
  const additions: Additions = {
    steps: () => ({
      hitPath: some(rateLimit.step()),
      router: some(documents?.step),
      passThrough: some(retirement.step),
    }),
    // Rows are merged into legacy's answer; migration chooses between that and modern's.
    layers: some(privateDatasets?.layer, migration.modern?.layer),
    ...migration.sides,
    backends: some(migration.modern?.backend),
    mayHit: some(privateDatasets?.mayHit, migration.modern?.mayHit),
    mayHitOldRead: some(retirement.mayHitOldRead),
    documents: some(documents?.documents),
    legacyHeaders: some(retirement.legacyHeaders, documents?.legacyHeaders),
    onLegacyBody: some(retirement.onLegacyBody),
    onExchange: some(retirement.onExchange, accessLog?.onExchange, tracing?.onExchange),
    isPlanned: some(retirement.isPlanned),
    writes,
    // This takes both features. Without either of them the member goes.
    legacyOnlyChecksKeys: () => migration.isModernEverywhere() && retirement.isInterfaceGone(),
  };
  // The order is that of the lines that they print.
  const starts = some(webhook?.start, privateDatasets?.start, migration.start, rateLimit.start, documents?.start);
  return {
    ...additions,
    /** In the order of the page, for parts that have the same place on it. */
    consoleParts: some<ConsolePart>(
      privateDatasets?.console,
      migration.console,
      retirement.console,
      rateLimit.console,
      incidents?.console,
      disk?.console,
    ),
    /** In the order of the lines that `--check` prints. */
    checks: some(loaded.sharedCache?.openCheck(core), disk?.check, privateDatasets?.check, migration.check),
    /**
     * Starts the background work of the features, one after the other; the results are parts of the lines that the
     * start prints.
     *
     * @throws An error that stops the start.
     */
    start: (): Promise<Started[]> => Array.fromAsync(starts, (start) => start()),
    /** Puts changed settings in force, one feature after the other. */
    reload: async (next: AllSettings): Promise<void> => {
      await migration.reload(next);
      retirement.reload(next);
      rateLimit.reload(next);
      core.events.emit("reloaded");
    },
    stores,
    privateDatasets,
    migration,
    retirement,
    accessLog,
    tracing,
  };
};

/** Makes sure that a feature is closed with the gateway. */
const closedBy =
  (closing: AsyncDisposableStack) =>
  <F extends { close: () => Promise<void> } | undefined>(feature: F): F => {
    if (feature) closing.defer(() => feature.close());
    return feature;
  };

/** Leaves out what a feature that is off does not give. */
const some = <T>(...given: (T | undefined)[]): T[] => given.filter((part) => part !== undefined);
