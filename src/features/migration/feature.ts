import { hash } from "node:crypto";
import { type LedgerEntry, readLedger } from "../../compare/ledger.ts";
import { buildId } from "../../cache/buildId.ts";
import type { Core, Feature } from "../../serve/feature.ts";
import { memoryStores } from "../../store/localStores.ts";
import { migrationEvents } from "./events.ts";
import type { Modern } from "./askModern.ts";
import { migrationConsole } from "./console/migrationConsole.ts";
import { countComparisons, meterStages } from "./metrics.ts";
import { type Migration, openMigration } from "./migration.ts";
import { stageText } from "./stage.ts";
import type { MigrationSettings } from "./settings.ts";
import { openEvidenceStore, openStateStore, type StateStore } from "./stateStore.ts";

/** Replaces parts of the feature in tests. Milliseconds: `settle` until a mismatch is checked again, `look` between two checks of the gates, `save` between two savings of evidence. */
export type MigrationParts = {
  store?: StateStore;
  expected?: readonly LedgerEntry[];
  times?: { settle?: number; look?: number; save?: number };
};

/** Bytes of compared answers a second. */
const COMPARED_BYTES = 16 * 1024 ** 2;

/** Moves endpoints from legacy to a new implementation by stages. Without `MODERN_URL` legacy answers everything, and the console says so. */
const open = async (
  core: Core,
  settings: MigrationSettings,
  parts: MigrationParts = {},
): Promise<Feature & { migration: Migration }> => {
  const { services, catalogue, isCheck } = core;
  const { meter, observer, cache, errors, reader } = services;
  const expected = parts.expected ?? ledgerOf(settings, catalogue.expectedDifferences);
  const { MODERN_URL: url, MODERN_ROUTES: routes, MODERN_TIMEOUT_MS: timeout } = settings;
  // Without a modern side Redis is only a cache, and the gateway starts without it.
  const stores = url === undefined ? memoryStores() : core.stores;
  const store = parts.store ?? (await openStateStore(stores));
  const isShared = stores.place === "redis";
  const reportStages = url === undefined ? undefined : core.services.dependencies.add("stages");
  const isAnySet = () => Object.keys(store.state().stages).length > 0;
  if (isShared && !isAnySet()) reportStages?.(true, NONE_SET);
  store.onChange(() => isAnySet() && reportStages?.(true));
  const judging = {
    errors,
    ledger: () => migration.ledger(),
    check: (...about: Parameters<typeof reader.checkModern>) => reader.checkModern(...about),
  };
  // Only what these settings need is loaded.
  const [client, layer] =
    url === undefined ? [] : await Promise.all([import("../../modern/client.ts"), import("./layer.ts")]);
  const opened = url === undefined ? undefined : client?.openModern(url, settings, judging, { ...core, ...services });
  const modern: Modern | undefined = opened && {
    client: opened.client,
    timeout,
    routes,
    identity: JSON.stringify(["modern", url, routes]),
  };
  const evidenceOf =
    isCheck || modern === undefined ? "" : hash("sha256", `${buildId()} ${modern.identity}`, "base64url");
  const migration = openMigration({
    endpoints: catalogue.endpoints,
    // A check compares both sides itself: whatever the stages are, the gateway answers it by legacy.
    configured: isCheck ? {} : settings.STAGES,
    expected,
    store,
    evidence: await openEvidenceStore(stores),
    isShared,
    onLost(endpoints) {
      observer.event("stages_lost", { endpoints });
      reportStages?.(false, "Redis has lost those that were set: those of STAGES hold");
    },
    hasModern: modern !== undefined,
    evidenceOf,
    // As many at a time as begin in a second: one whose sides differ takes that long.
    budget: { concurrency: settings.MIRROR_RATE, rate: settings.MIRROR_RATE, bytes: COMPARED_BYTES },
    observer,
    trafficOf: meter.traffic,
    onCompared: countComparisons(meter),
    notify: (notice) => core.features.forEach((one) => one.onNotice?.(notice)),
    onMoved: (endpoint) => void cache.invalidate({ endpoint, soft: false }),
    ...parts.times,
  });
  meterStages(meter, migration);
  const addresses = { legacy: core.settings.LEGACY_URL + settings.LEGACY_PATH, candidate: url ?? "" };
  return {
    migration,
    console: migrationConsole(migration, observer),
    ...(modern && layer
      ? {
          layer: layer.migrationLayer({ services, migration, modern }, { mayForce: settings.FORCE_BACKEND, addresses }),
          isModern: layer.answersByModern(migration, settings.FORCE_BACKEND),
          isPlain: (endpoint, _isKeyed, headers) =>
            migration.isUndivided(endpoint) && headers["gateway-backend"] === undefined,
        }
      : {}),
    stageOf: (endpoint) => migration.stageOf(endpoint).stage,
    onLegacyAnswer: ({ endpoint, ms, status }) => migration.track(endpoint).asked("legacy", ms, status >= 500),
    async check(report) {
      const { checkMigration } = await import("./check.ts");
      return checkMigration({ services, migration, ...(modern ? { modern } : {}) }, catalogue.endpoints, report);
    },
    reload(next) {
      const { STAGES, EXPECTED_DIFFERENCES } = next as MigrationSettings;
      const ledger = readLedger(EXPECTED_DIFFERENCES ?? catalogue.expectedDifferences, "EXPECTED_DIFFERENCES");
      return "errors" in ledger ? ledger : () => migration.configure(STAGES, ledger.entries);
    },
    start: () =>
      Promise.resolve({ line: describeStages(migration) + (isShared && !isAnySet() ? `; ${NONE_SET}` : "") }),
    async close() {
      await migration.close();
      await opened?.close();
    },
  };
};

/** What is said where Redis has no stage: it may have lost them. */
const NONE_SET = "Redis has none that was set at run time: those of STAGES hold";

const ledgerOf = (settings: MigrationSettings, shipped: string): LedgerEntry[] => {
  const read = readLedger(settings.EXPECTED_DIFFERENCES ?? shipped, "EXPECTED_DIFFERENCES");
  if ("errors" in read) throw new Error(read.errors.join("\n"));
  return read.entries;
};

const describeStages = (migration: Migration): string => {
  if (!migration.hasModern) return "every endpoint stays with legacy: MODERN_URL is not set";
  const moved = Object.entries(migration.view()).filter(([, { stage }]) => stage !== "legacy");
  const stages = moved.map(([name, stage]) => `${name} ${stageText(stage)}`).join("; ");
  return stages === "" ? "every endpoint is in the stage legacy" : `stages: ${stages}; all others legacy`;
};

/** The feature, as the gateway opens it. */
export const migrationFeature = { open, events: migrationEvents };
