import type { Hono } from "hono";
import type { LedgerEntry } from "../../../../src/compare/ledger.ts";
import { type CacheView, consoleApp } from "../../../../src/features/console/consoleApp.ts";
import { type ConsolePage, openConsolePage } from "../../../../src/features/console/page/consolePage.ts";
import { migrationConsole } from "../../../../src/features/migration/console/migrationConsole.ts";
import { openHistory } from "../../../../src/features/migration/history/history.ts";
import { sampleNow } from "./sampleData.ts";
import type { OperatedMigration } from "../../../../src/features/migration/console/routes.ts";
import type { Move } from "../../../../src/features/migration/stage.ts";
import type { DifferenceView, StagesView, StageView } from "../../../../src/features/migration/views.ts";
import { privateDatasetsConsole } from "../../../../src/features/privateDatasets/console/privateDatasetsConsole.ts";
import type { PrivateRowsView } from "../../../../src/features/privateDatasets/scan.ts";
import { type ClientView, retirementConsole } from "../../../../src/features/retirement/console/retirementConsole.ts";
import { openDependencies } from "../../../../src/telemetry/dependencies.ts";
import { openMeter } from "../../../../src/telemetry/meter.ts";
import { openObserver } from "../../../../src/telemetry/observer.ts";
import type { WhenOff } from "../../../../src/settings/settings.ts";
import type { ConsolePart } from "../../../../src/ui/consolePart.ts";

/** Where clients find the gateway of the data. */
export const sampleAddress = "http://gateway.example:8642/v1";

/** All that the operators' page can show. */
export type SampleData = {
  stages: StagesView;
  differences: readonly DifferenceView[];
  audit: readonly Move[];
  clients: readonly ClientView[];
  expected: readonly LedgerEntry[];
  hasModern: boolean;
  cache: CacheView & { privateRows: PrivateRowsView };
};

/** A history of regular waves. */
const sampleHistory = (): OperatedMigration["history"] => {
  const history = openHistory(["getDataset"], () => sampleNow.getTime());
  return {
    starts: () => [sampleNow.getTime() - 20 * 60_000],
    points: (range, endpoint) =>
      history.points(range, endpoint).map((point, i) => ({
        ...point,
        requests: 40 + Math.round(20 * Math.sin(i / 4)),
        hits: 30 + Math.round(20 * Math.sin(i / 4)),
        judged: 20,
        good: i % 9 === 0 ? 19 : 20,
        legacy: { asked: 20, failed: i % 20 === 0 ? 1 : 0, p50: 118 + (i % 7), p95: 480 + 10 * (i % 5) },
        modern:
          i < 10
            ? { asked: 0, failed: 0, p50: undefined, p95: undefined }
            : { asked: 20, failed: 0, p50: 31, p95: 90 + (i % 11) },
      })),
  };
};

/** A migration that shows the data. It gives all differences for the first kind, so that the data decide their order. */
const sampleMigration = (read: () => SampleData): OperatedMigration => ({
  view: () => read().stages,
  viewOf: (endpoint) => read().stages[endpoint] as StageView,
  stageOf: (endpoint) => read().stages[endpoint] as StageView,
  gateways: () => 1,
  setGate: () => Promise.resolve(false),
  history: sampleHistory(),
  differences: (kind) => (kind === "unexplained" ? [...read().differences] : []),
  audit: () => [...read().audit],
  expected: () => [...read().expected],
  fired: () => new Set(),
  get hasModern() {
    return read().hasModern;
  },
  against: () => undefined,
  formerOf: () => undefined,
  move: () => Promise.resolve(false),
  expect: () => Promise.resolve(false),
});

/** The parts of all features, showing what the data say. */
const partsOf = (read: () => SampleData): ConsolePart[] => [
  migrationConsole(sampleMigration(read), openObserver("silent")),
  retirementConsole(() => read().clients),
  privateDatasetsConsole(() => read().cache.privateRows),
];

/** What is said of features that are off. */
type Off = readonly WhenOff[];

/** The operators' page of the data, by itself. `openCircuits`: backends that fail. */
export const openSamplePage = async (
  read: () => SampleData,
  off: Off = [],
  openCircuits: readonly string[] = [],
): Promise<ConsolePage> => {
  const parts = await Promise.all(partsOf(read).flatMap((part) => part.page?.() ?? []));
  return openConsolePage(() => read().cache, off, parts, sampleAddress, {
    untrustedProxies: () => [],
    openCircuits: () => openCircuits,
  });
};

/** The operators' interface over the data; `first` comes before the routes of the features. */
export const sampleConsole = (
  read: () => SampleData,
  { token, first = {}, parts = partsOf(read) }: { token?: string; first?: ConsolePart; parts?: ConsolePart[] } = {},
): Hono => {
  const { windows, bound } = read().cache;
  const cache = { size: () => read().cache, sharing: () => "in step" as const, invalidate: () => Promise.resolve() };
  return consoleApp(
    {
      services: {
        cache,
        meter: openMeter(() => ({})),
        dependencies: openDependencies(),
        observer: openObserver("silent"),
      },
      settings: { CACHE_BYTES: bound.bytes },
      lifetimes: windows,
      features: [first, ...parts].map((part) => ({ console: part })),
      off: [],
      untrustedProxies: () => [],
      isStopping: () => false,
      dispatches: () => Promise.resolve(true),
    },
    { host: "127.0.0.1", token },
    sampleAddress,
  );
};
