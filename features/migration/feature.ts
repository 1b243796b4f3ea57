import type { CheckReport } from "../../libraries/check/checkReport.ts";
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type LedgerEntry, ledgerOf } from "../../libraries/compare/ledger.ts";
import { buildId } from "../../src/operation/index.ts";
import { type Core, legacyDecision, type Writes } from "../../src/gateway/index.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import type { Stores } from "../../libraries/stores/keyValueStore.ts";
import { memoryStores } from "../../libraries/stores/openStores.ts";
import { migrationEvents } from "./events.ts";
import { addMigrationRoutes } from "./console/routes.ts";
import type { Modern } from "./modern.ts";
import { meterStages } from "./metrics.ts";
import { type Migration, openMigration } from "./migration.ts";
import { openEvidenceStore } from "./savedEvidence.ts";
import { stageText } from "./stage.ts";
import type { LayeredCore } from "./layer.ts";
import { openStageStore, type StageStore } from "./stages.ts";
import type { MigrationSettings } from "./settings.ts";

/**
 * Replaces parts of the feature in tests. Milliseconds: `recheck` until a mismatch is checked again, `look` between two
 * checks of the gates, `save` between two savings of evidence.
 */
export type MigrationParts = {
  store?: StageStore;
  expected?: readonly LedgerEntry[];
  times?: { recheck?: number; look?: number; save?: number };
};

/** The parts of the core that the feature uses. */
type MigratedCore = LayeredCore &
  Pick<Core, "catalogue" | "isCheck" | "dependencies" | "events" | "traffic" | "reader" | "memory">;

/**
 * Moves endpoints from legacy to a new implementation by stages. Without `MODERN_URL` legacy answers everything,
 * and the console says so.
 */
const open = async (
  core: MigratedCore,
  given: { stores: Stores; writes: Writes },
  settings: MigrationSettings,
  parts: MigrationParts = {},
) => {
  const { catalogue, isCheck, meter, observer, events, dependencies } = core;
  const expected = parts.expected ?? ledgerOf(settings.EXPECTED_DIFFERENCES, catalogue.expectedDifferences);
  const { MODERN_URL: url } = settings;
  // Without a modern side Redis is only a cache, and the gateway starts without it.
  const stores = url === undefined ? memoryStores() : given.stores;
  const store = parts.store ?? (await openStageStore(stores));
  const isShared = stores.kind === "redis";
  const reportStages = url === undefined ? undefined : dependencies.add("stages", STAGES_LOST);
  const names = Object.keys(catalogue.endpoints);
  const isAnySet = () => store.entries().size > 0;
  const reportLost = (): void => {
    const lost = Map.groupBy(names, (name) => {
      const stage = migration.lost(name);
      return stage && stageText(stage);
    });
    lost.delete(undefined);
    const had = [...lost].map(([stage, alike]) => `${alike.join(", ")} had ${stage}`);
    if (had.length > 0) reportStages?.(false, had.join("; "));
    else reportStages?.(true, isShared && !isAnySet() ? NONE_SET : undefined);
  };
  // Only the modules that these settings need are loaded.
  const opened =
    url === undefined
      ? undefined
      : (await import("../../libraries/modern/client.ts")).openModern(url, settings, {
          ...core,
          isUsed: () => migration.isModernUsed(),
        });
  const identity = JSON.stringify(["modern", url, settings.MODERN_ROUTES]);
  const migration: Migration = openMigration(core, {
    // A check compares both sides itself: in any stage, legacy answers its requests.
    configured: isCheck ? {} : settings.STAGES,
    expected,
    store,
    evidence: await openEvidenceStore(stores),
    isShared,
    onLost(endpoints) {
      const had = Object.fromEntries(endpoints.map((name) => [name, migration.lost(name)]));
      observer.event("stages_lost", { endpoints, had });
    },
    onSet: reportLost,
    hasModern: url !== undefined,
    evidenceOf: isCheck || url === undefined ? "" : hash("sha256", `${buildId()} ${identity}`, "base64url"),
    ...parts.times,
  });
  reportLost();
  store.onChange(reportLost);
  const modern: Modern | undefined =
    url === undefined || opened === undefined
      ? undefined
      : { url, client: opened.client, timeout: settings.MODERN_TIMEOUT_MS, routes: settings.MODERN_ROUTES, identity };
  const layer =
    modern &&
    (await import("./layer.ts")).openLayer(
      { ...core, writes: given.writes },
      settings,
      modern,
      migration,
      parts.times?.recheck ?? 1000,
    );
  meterStages(meter, migration.view, () => layer?.shed() ?? 0);
  events.on("legacyAnswer", ({ endpoint, ms, status }) => migration.track(endpoint).asked("legacy", ms, status >= 500));
  return {
    migration,
    decide: layer?.decide ?? (() => legacyDecision),
    // A check asks legacy in any stage: it looks at the stages of the configuration.
    isModernEverywhere: () =>
      isCheck ? names.every((name) => settings.STAGES[name]?.stage === "modern") : migration.isModernEverywhere(),
    console: {
      routes: (app) => addMigrationRoutes(app, migration, observer),
      page: async () => (await import("./console/page.ts")).migrationPage(migration, url),
    } satisfies ConsolePart,
    modern: layer && {
      backend: identity,
      layer: layer.layer,
      mayHit: (endpoint: string, _isKeyed: boolean, headers: IncomingHttpHeaders) =>
        migration.stageOf(endpoint).stage === "legacy" && headers["gateway-backend"] === undefined,
    },
    check: async (report: CheckReport) => {
      const { checkMigration } = await import("./check.ts");
      const { endpoints } = catalogue;
      return checkMigration({ core, migration, modern, stages: settings.STAGES, endpoints }, report);
    },
    reload({ STAGES, EXPECTED_DIFFERENCES }: MigrationSettings) {
      return migration.configure(STAGES, ledgerOf(EXPECTED_DIFFERENCES, catalogue.expectedDifferences));
    },
    start: () =>
      Promise.resolve({
        line: describeStages(migration) + (isShared && !isAnySet() ? `; ${NONE_SET}` : ""),
      }),
    async close() {
      await layer?.idle();
      await migration.close();
      await opened?.close();
    },
  };
};

/** The warning if Redis has no stage: it may have lost them. */
const NONE_SET = "Redis has none that was set at run time: the stages of the setting STAGES are in force";

/** The trouble if Redis had stages, and has lost them. */
const STAGES_LOST = {
  trouble: "The stages that were set at run time have been lost",
  effect: "the stages of the setting STAGES are in force",
};

const describeStages = (migration: Migration): string => {
  if (migration.isModernEverywhere()) return "modern answers every endpoint";
  if (!migration.hasModern) return "every endpoint stays with legacy: MODERN_URL is not set";
  const moved = Object.entries(migration.view()).filter(([, { stage }]) => stage !== "legacy");
  const stages = moved.map(([name, stage]) => `${name} ${stageText(stage)}`).join("; ");
  return stages === "" ? "every endpoint is in the stage legacy" : `stages: ${stages}; all others legacy`;
};

export const feature = { open, events: migrationEvents };
