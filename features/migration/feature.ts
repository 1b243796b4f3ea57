import type { CheckReport } from "../../libraries/check/checkReport.ts";
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type LedgerEntry, ledgerOf } from "../../libraries/compare/ledger.ts";
import { buildId } from "../../src/operation/index.ts";
import { type Core, legacyDecision, type Writes } from "../../src/gateway/index.ts";
import { counted } from "../../libraries/ui/wording.ts";
import type { ConsolePart } from "../../libraries/ui/consolePart.ts";
import type { Stores } from "../../libraries/stores/keyValueStore.ts";
import { memoryStores } from "../../libraries/stores/openStores.ts";
import { migrationEvents } from "./events.ts";
import { addMigrationRoutes } from "./console/routes.ts";
import { openModern } from "./modern.ts";
import { meterStages } from "./metrics.ts";
import { Migration } from "./migration.ts";
import { openEvidenceStore } from "./savedEvidence.ts";
import { stageText } from "./stage.ts";
import type { LayeredCore } from "./layer.ts";
import { openStageStore, type StageStore } from "./stageStore.ts";
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

type MigratedCore = LayeredCore &
  Pick<Core, "catalogue" | "isCheck" | "provedReads" | "dependencies" | "events" | "traffic" | "reader" | "memory">;

/**
 * Moves endpoints from legacy to a new implementation by stages. Without `MODERN_URL` legacy answers everything,
 * and the console says so.
 */
const open = async (
  core: MigratedCore,
  { stores: givenStores, writes }: { stores: Stores; writes: Writes },
  settings: MigrationSettings,
  { times = {}, ...parts }: MigrationParts = {},
) => {
  const { catalogue, isCheck } = core;
  const { MODERN_URL: url } = settings;
  const { expectedDifferences: shipped } = catalogue;
  const expected = parts.expected ?? ledgerOf(settings.EXPECTED_DIFFERENCES, shipped);
  // Without a modern side Redis is only a cache, and the gateway starts without it.
  const stores = url === undefined ? memoryStores() : givenStores;
  const store = parts.store ?? (await openStageStore(stores));
  const isShared = stores.kind === "redis";
  /** The warning that no stage was set, or that Redis has lost all of them. */
  const noneSet = (): string | undefined => (isShared && store.entries().size === 0 ? NONE_SET : undefined);
  const reportStages = url === undefined ? undefined : core.dependencies.add("stages", STAGES_LOST);
  const reportLost = (): void => {
    const lost = describeLost(migration);
    reportStages?.(lost === "", lost === "" ? noneSet() : lost);
  };
  const isUsed = () => migration.isModernUsed();
  const modern = url === undefined ? undefined : await openModern(url, settings, { ...core, isUsed });
  const migration: Migration = new Migration(core, {
    // A check compares both sides itself: in any stage, legacy answers its requests.
    configured: isCheck ? {} : settings.STAGES,
    expected,
    store,
    evidence: {
      store: await openEvidenceStore(stores),
      of: isCheck || !modern ? "" : hash("sha256", `${buildId()} ${modern.identity}`, "base64url"),
      interval: times.save,
    },
    isShared,
    onSet: reportLost,
    hasModern: modern !== undefined,
    look: times.look,
  });
  migration.follow(settings);
  reportLost();
  store.onChange(reportLost);
  // No gateway without `MODERN_URL` needs its modules.
  const layer =
    modern && (await import("./layer.ts")).openLayer({ ...core, writes }, settings, modern, migration, times.recheck);
  meterStages(core.meter, migration, () => layer?.shed() ?? 0);
  core.events.on("legacyAnswer", ({ endpoint, ms, status }) =>
    migration.track(endpoint).asked("legacy", ms, status >= 500),
  );
  return {
    migration,
    sides: { decide: layer?.decide ?? (() => legacyDecision), oldReadBackend: layer?.oldReads },
    // A check asks legacy in any stage: it looks at the stages of the configuration.
    isModernEverywhere: () =>
      isCheck
        ? migration.endpoints.every((name) => settings.STAGES[name]?.stage === "modern")
        : migration.isModernEverywhere(),
    console: {
      routes: (app) => addMigrationRoutes(app, migration, core.observer),
      page: async () => (await import("./console/page.ts")).migrationPage(migration, url),
    } satisfies ConsolePart,
    modern: layer && modern && { backend: modern.identity, layer: layer.layer, mayHit: mayHit(migration) },
    check: async (report: CheckReport) => {
      const { checkMigration } = await import("./check.ts");
      return checkMigration(core, migration, modern, settings.STAGES, report);
    },
    reload: async (next: MigrationSettings) => {
      migration.follow(next);
      await migration.configure(next.STAGES, ledgerOf(next.EXPECTED_DIFFERENCES, shipped));
    },
    start: async () => {
      const none = noneSet();
      return { line: describeStages(migration) + describeOldClients(core) + (none === undefined ? "" : `; ${none}`) };
    },
    async close() {
      await layer?.idle();
      await migration.close();
      await modern?.close();
    },
  };
};

/** True if the cache may answer a request before its stage is looked up: legacy answers it for every caller. */
const mayHit =
  (migration: Migration) =>
  (endpoint: string, _isKeyed: boolean, headers: IncomingHttpHeaders): boolean =>
    migration.stages.of(endpoint).stage === "legacy" && headers["gateway-backend"] === undefined;

/** The endpoints whose stage Redis has lost, with the stage that they had; empty if it has lost none. */
const describeLost = (migration: Migration): string => {
  const lost = migration.endpoints.flatMap((endpoint) => {
    const stage = migration.stages.lost(endpoint);
    return stage === undefined ? [] : [{ endpoint, had: stageText(stage) }];
  });
  return [...Map.groupBy(lost, ({ had }) => had)]
    .map(([had, alike]) => `${alike.map(({ endpoint }) => endpoint).join(", ")} had ${had}`)
    .join("; ");
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

const describeOldClients = ({ provedReads: { size } }: Pick<Core, "provedReads">): string =>
  size === 0 ? "" : `; old clients of ${counted(size, "endpoint")} may follow them`;

export const feature = { open, events: migrationEvents };
