import { type LedgerEntry, type Ledger, openLedger } from "../../compare/ledger.ts";
import { type Classification, type DifferenceResult, resultOf } from "../../compare/difference.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Observer } from "../../telemetry/observer.ts";
import { type BudgetSettings, openBudget } from "./budget.ts";
import { type Bucketing, decide, type StageDecision } from "./decide.ts";
import { type Differences, openDifferences } from "./differences.ts";
import { type Gates, openGates } from "./gates.ts";
import { type Mirrored, openShadow } from "./shadow.ts";
import type { Destination, Move, Stage, StageInForce } from "./stage.ts";
import { openStages } from "./stages.ts";
import type { StateStore } from "./store/stateStore.ts";
import { openTrack, type Track } from "./track.ts";
import type { DifferenceView, StagesView, StageView } from "./views.ts";

/** Decides which side answers each endpoint, and compares both sides. */
export type Migration = {
  decide(endpoint: string, caller: Bucketing): StageDecision;
  stageOf(endpoint: string): StageInForce;
  /** True if legacy alone answers it. */
  isUndivided(endpoint: string): boolean;
  track(endpoint: string): Track;
  /** Compares one answered request on both sides, if the endpoint's stage and the budget allow it. */
  mirror(endpoint: string, mirrored: () => Mirrored): void;
  view(): StagesView;
  viewOf(endpoint: string): StageView;
  differences(kind: Classification): DifferenceView[];
  audit(): Move[];
  expected(): LedgerEntry[];
  /** The expected differences that are in force today. */
  ledger(): Ledger;
  /** The ids of ledger entries that have allowed a difference since the start. */
  fired(): ReadonlySet<string>;
  /** Moves one endpoint; false if another move came first. Rejects if the store does not confirm the write. */
  move(endpoint: string, to: Destination, by: string, why: string): Promise<boolean>;
  /** Adds an expected difference; false if its id is taken. Rejects as `move` does. */
  expect(entry: LedgerEntry): Promise<boolean>;
  /** Puts new stages and a new ledger file in force. */
  configure(configured: Readonly<Record<string, Stage>>, expected: readonly LedgerEntry[]): Promise<void>;
  hasModern: boolean;
  /** The number of comparisons that the budget had no room for. */
  shed(): number;
  close(): Promise<void>;
};

/** What the migration is opened with. */
type MigrationOptions = {
  endpoints: Readonly<Record<string, Endpoint>>;
  configured: Readonly<Record<string, Stage>>;
  expected: readonly LedgerEntry[];
  store: StateStore;
  hasModern: boolean;
  budget: BudgetSettings;
  observer: Observer;
  onCompared: (endpoint: string, result: DifferenceResult) => void;
  /** Called when other callers or another side are served: cached answers of the endpoint are out of date. */
  onMoved: (endpoint: string) => void;
  /** Milliseconds until a mismatch is checked again; default: a second. */
  settle?: number;
  /** Milliseconds between two checks of the gates; default: five seconds. */
  look?: number;
  random?: () => number;
};

/** Opens the migration. Without a modern side all endpoints stay at `legacy`. */
export const openMigration = (settings: MigrationOptions): Migration => {
  const { store, observer, hasModern, random = Math.random } = settings;
  const names = Object.keys(settings.endpoints);
  const tracks = new Map(names.map((name) => [name, openTrack()]));
  const trackOf = (endpoint: string) => tracks.get(endpoint) as Track;
  const differences = openDifferences(random);
  const ledger = openExpected(settings.expected, store);
  const onUnwritten = (endpoint: string, error: Error): undefined => {
    observer.event("stage_not_kept", { endpoint, why: error.message });
  };
  const stageOf = (endpoint: string): StageInForce =>
    hasModern ? stages.of(endpoint) : { ...stages.of(endpoint), stage: "legacy" };
  // Opened before the stages, which may report moves at once.
  const gates = openGates({
    endpoints: names,
    stageOf,
    evidenceOf: (endpoint) => trackOf(endpoint).evidence(),
    move: (endpoint, to, by, why) => stages.move(endpoint, to, by, why),
    onError: onUnwritten,
    interval: settings.look ?? 5000,
  });
  const stages = openStages({
    store,
    endpoints: names,
    configured: settings.configured,
    onUnwritten,
    onMove(endpoint, from, to) {
      trackOf(endpoint).moved(to.by === "gate" && to.stage === "shadow" && from.stage !== "legacy");
      gates.moved(endpoint);
      settings.onMoved(endpoint);
      // After a gate's move an operator still needs the differences that caused it.
      if (to.by !== "gate") differences.remove((one) => one.endpoint === endpoint);
      const { stage, share, by, why } = to;
      observer.log.info({ event: "stage_moved", endpoint, from: from.stage, to: stage, share, by, why });
    },
  });
  // A hold after a demotion does not end with a restart, nor begin again in another gateway.
  for (const name of names) {
    const { by, stage, since } = stages.of(name);
    if (by === "gate" && stage === "shadow") trackOf(name).wasDemoted(Date.parse(since));
  }
  const removeAllowed = (allowed: Ledger): void =>
    differences.remove((one) => one.kind === "unexplained" && allowed.allowing(one.endpoint, one) !== undefined);
  store.onChange(() => removeAllowed(ledger.inForce()));
  const { shadow, fired } = openComparison(settings, { trackOf, differences, ledger, gates });
  const viewOf = (endpoint: string) => formatStage(stageOf(endpoint), trackOf(endpoint), gates.says(endpoint));

  return {
    hasModern,
    stageOf,
    isUndivided: (endpoint) => !hasModern || stages.of(endpoint).stage === "legacy",
    decide: (endpoint, caller) => decide(stageOf(endpoint), caller),
    track: trackOf,
    mirror(endpoint, mirrored) {
      const { stage, share } = stageOf(endpoint);
      // In canary the share is of the callers: requests of all callers are compared.
      const isWanted = stage === "canary" || (stage !== "legacy" && random() * 100 < share);
      if (isWanted) void shadow.compare(mirrored());
    },
    view: () => Object.fromEntries(names.map((name) => [name, viewOf(name)])),
    viewOf,
    differences: (kind) => differences.view(kind),
    audit: () => store.state().audit,
    expected: () => ledger.entries(),
    ledger: () => ledger.inForce(),
    fired: () => fired,
    move: (endpoint, to, by, why) => gates.move(endpoint, to, by, why),
    async expect(entry) {
      const isAdded = ledger.isNew(entry) && (await store.expect(entry));
      if (isAdded) removeAllowed(openLedger([entry], today()));
      return isAdded;
    },
    async configure(configured, expected) {
      ledger.replaceFile(expected);
      await stages.configure(configured);
    },
    shed: () => shadow.shed(),
    async close() {
      gates.close();
      await shadow.idle();
      await store.close();
    },
  };
};

const today = (): string => new Date().toISOString().slice(0, 10);

/** The expected differences: those of the file, and those that operators have added. */
const openExpected = (initial: readonly LedgerEntry[], store: StateStore) => {
  let file = initial;
  let ledger: { of: Ledger; day: string; count: number } | undefined;
  const entries = (): LedgerEntry[] => [...file, ...store.state().expected];
  return {
    entries,
    /** The entries that are in force today. */
    inForce(): Ledger {
      const [day, count] = [today(), store.state().expected.length];
      // Entries end with a day, and operators only add entries.
      if (ledger?.day !== day || ledger.count !== count) ledger = { of: openLedger(entries(), day), day, count };
      return ledger.of;
    },
    /** Whether the file has no entry of this id. */
    isNew: (entry: LedgerEntry): boolean => file.every(({ id }) => id !== entry.id),
    replaceFile(next: readonly LedgerEntry[]): void {
      file = next;
      ledger = undefined;
    },
  };
};

type ComparisonParts = {
  trackOf: (endpoint: string) => Track;
  differences: Differences;
  ledger: ReturnType<typeof openExpected>;
  gates: Gates;
};

/** Compares requests, and counts the results. `fired`: the ids of ledger entries that have allowed a difference. */
const openComparison = (
  { budget, observer, onCompared, settle = 1000 }: MigrationOptions,
  { trackOf, differences, ledger, gates }: ComparisonParts,
) => {
  const fired = new Set<string>();
  const shadow = openShadow({
    budget: openBudget(budget),
    ledger: () => ledger.inForce(),
    settle,
    onCompared({ name: endpoint, id, question, key, curl }, found) {
      trackOf(endpoint).compared(id, found);
      onCompared(endpoint, resultOf(found));
      for (const { entry } of found) if (entry !== undefined) fired.add(entry);
      if (found.length > 0)
        differences.add({ endpoint, question, at: new Date().toISOString(), differences: found, curl, key });
      if (found.some(({ kind }) => kind === "unexplained")) gates.check(endpoint);
    },
    onError: (error) => observer.event("internal_error", { error: (error as Error).stack }),
  });
  return { shadow, fired };
};

const formatStage = (stageInForce: StageInForce, track: Track, gateSays: string | undefined): StageView => {
  const { configured: _, ...stage } = stageInForce;
  return {
    ...stage,
    parity: track.parity(),
    rate: track.rate(),
    hitRatio: track.hitRatio(),
    latency: { legacy: track.latency("legacy"), modern: track.latency("modern") },
    errorRate: track.errorRate(),
    spark: track.spark(),
    ...(gateSays === undefined ? {} : { gateSays }),
  };
};
