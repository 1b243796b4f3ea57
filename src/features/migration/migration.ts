import { type LedgerEntry, type Ledger, openLedger } from "../../compare/ledger.ts";
import { type Classification, type DifferenceResult, resultOf } from "../../compare/difference.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Observer } from "../../telemetry/observer.ts";
import { type BudgetSettings, openBudget } from "./budget.ts";
import { type Bucketing, decide, type StageDecision } from "./decide.ts";
import { openDifferences } from "./differences.ts";
import { judgeGate } from "./gate.ts";
import { type Mirrored, openShadow } from "./shadow.ts";
import type { Destination, Move, Stage, StageInForce } from "./stage.ts";
import { openStages } from "./stages.ts";
import type { StateStore } from "./store/stateStore.ts";
import { openTrack, type Track } from "./track.ts";
import type { DifferenceView, StagesView, StageView } from "./views.ts";

/** Who answers what, and how well both sides agree. */
export type Migration = {
  decide(endpoint: string, caller: Bucketing): StageDecision;
  stageOf(endpoint: string): StageInForce;
  /** Legacy alone answers it: there is nothing to decide. */
  isUndivided(endpoint: string): boolean;
  track(endpoint: string): Track;
  /** Compares one answered question on both sides, where the endpoint's stage and the budget say so. */
  mirror(endpoint: string, mirrored: () => Mirrored): void;
  view(): StagesView;
  viewOf(endpoint: string): StageView;
  differences(kind: Classification): DifferenceView[];
  audit(): Move[];
  expected(): LedgerEntry[];
  /** The ledger of expected differences as it is in force today. */
  ledger(): Ledger;
  /** Which entries of the ledger have allowed something since the start. */
  fired(): ReadonlySet<string>;
  move(endpoint: string, to: Destination, by: string, why: string): Promise<boolean>;
  expect(entry: LedgerEntry): Promise<boolean>;
  configure(configured: Readonly<Record<string, Stage>>, expected: readonly LedgerEntry[]): Promise<void>;
  hasModern: boolean;
  shed(): number;
  close(): Promise<void>;
};

export type MigrationOptions = {
  endpoints: Readonly<Record<string, Endpoint>>;
  configured: Readonly<Record<string, Stage>>;
  expected: readonly LedgerEntry[];
  store: StateStore;
  hasModern: boolean;
  budget: BudgetSettings;
  observer: Observer;
  onCompared: (endpoint: string, standing: DifferenceResult) => void;
  /** Another side, or another part of the callers: what was kept before says nothing of now. */
  onMoved: (endpoint: string) => void;
  /** Milliseconds until a mismatch is asked again, and between two looks at the gates. */
  settle?: number;
  look?: number;
  random?: () => number;
};

export const openMigration = (settings: MigrationOptions): Migration => {
  const { endpoints, store, observer, hasModern, settle = 1000, look = 5000, random = Math.random } = settings;
  const names = Object.keys(endpoints);
  const tracks = new Map(names.map((name) => [name, openTrack()]));
  const trackOf = (endpoint: string) => tracks.get(endpoint) as Track;
  const differences = openDifferences(random);
  const says = new Map<string, string>();
  const fired = new Set<string>();

  let shipped = settings.expected;
  const today = () => new Date().toISOString().slice(0, 10);
  let ledger: { of: Ledger; day: string; count: number } | undefined;
  const ledgerNow = (): Ledger => {
    const [day, added] = [today(), store.state().expected];
    // Entries end with a day, and come with a click.
    if (ledger?.day !== day || ledger.count !== added.length)
      ledger = { of: openLedger([...shipped, ...added], day), day, count: added.length };
    return ledger.of;
  };

  const stages = openStages({
    store,
    endpoints: names,
    configured: settings.configured,
    onUnkept(endpoint, error) {
      observer.event("stage_not_kept", { endpoint, why: error.message });
      return undefined;
    },
    onMove(endpoint, from, to) {
      const demoted = to.by === "gate" && to.stage === "shadow" && from.stage !== "legacy";
      trackOf(endpoint).moved(demoted);
      says.delete(endpoint);
      settings.onMoved(endpoint);
      // What made the gate act is still to be looked at; whoever moves it by hand has looked.
      if (to.by !== "gate") differences.forget((one) => one.endpoint === endpoint);
      observer.log.info({
        event: "stage_moved",
        endpoint,
        from: from.stage,
        to: to.stage,
        share: to.share,
        by: to.by,
        why: to.why,
      });
    },
  });

  // A hold does not end with a restart, nor begin anew with another gateway.
  for (const name of names) {
    const { by, stage, since } = stages.of(name);
    if (by === "gate" && stage === "shadow") trackOf(name).wasDemoted(Date.parse(since));
  }

  // What another gateway's operator has made expected is so here as well.
  store.onChange(() => {
    const now = ledgerNow();
    differences.forget((one) => one.kind === "unexplained" && now.allowing(one.endpoint, one) !== undefined);
  });

  /** Where there is nobody to ask, everything stays with legacy, whatever is set. */
  const stageOf = (endpoint: string): StageInForce => {
    const stage = stages.of(endpoint);
    return hasModern ? stage : { ...stage, stage: "legacy" };
  };

  const moving = new Set<string>();
  const move = async (endpoint: string, to: Destination, by: string, why: string): Promise<boolean> => {
    moving.add(endpoint);
    try {
      return await stages.move(endpoint, to, by, why);
    } finally {
      moving.delete(endpoint);
    }
  };

  const lookAtGate = (endpoint: string): void => {
    const stage = stageOf(endpoint);
    if (stage.gate === undefined || moving.has(endpoint)) return;
    const { says: why, to } = judgeGate(stage.gate, stage, trackOf(endpoint).evidence());
    says.set(endpoint, why);
    if (to)
      move(endpoint, to, "gate", why).catch((error: Error) =>
        observer.event("stage_not_kept", { endpoint, why: error.message }),
      );
  };
  const looking = setInterval(() => names.forEach(lookAtGate), look);
  looking.unref();

  const shadow = openShadow({
    budget: openBudget(settings.budget),
    ledger: ledgerNow,
    settle,
    onCompared({ name, id, question, key, curl }, found) {
      trackOf(name).compared(id, found);
      settings.onCompared(name, resultOf(found));
      for (const { entry } of found) if (entry !== undefined) fired.add(entry);
      if (found.length > 0)
        differences.add({
          endpoint: name,
          question,
          at: new Date().toISOString(),
          differences: found,
          curl,
          key,
        });
      if (found.some(({ kind }) => kind === "unexplained")) lookAtGate(name);
    },
    onError: (error) => observer.event("internal_error", { error: (error as Error).stack }),
  });

  const viewOf = (endpoint: string): StageView => {
    const track = trackOf(endpoint);
    const said = says.get(endpoint);
    const { configured: _, ...stage } = stageOf(endpoint);
    return {
      ...stage,
      parity: track.parity(),
      rate: track.rate(),
      hitRatio: track.hitRatio(),
      latency: { legacy: track.latency("legacy"), modern: track.latency("modern") },
      errorRate: track.errorRate(),
      spark: track.spark(),
      ...(said === undefined ? {} : { gateSays: said }),
    };
  };

  return {
    hasModern,
    stageOf,
    isUndivided: (endpoint) => !hasModern || stages.of(endpoint).stage === "legacy",
    decide: (endpoint, caller) => decide(stageOf(endpoint), caller),
    track: trackOf,
    mirror(endpoint, mirrored) {
      const { stage, share } = stageOf(endpoint);
      // In canary the share is of the callers; all of them are compared, as far as the budget goes.
      const isWanted = stage === "canary" || (stage !== "legacy" && random() * 100 < share);
      if (isWanted) void shadow.compare(mirrored());
    },
    view: () => Object.fromEntries(names.map((name) => [name, viewOf(name)])),
    viewOf,
    differences: (kind) => differences.view(kind),
    audit: () => stages.audit(),
    expected: () => [...shipped, ...stages.expected()],
    ledger: ledgerNow,
    fired: () => fired,
    move,
    async expect(entry) {
      const added = shipped.every(({ id }) => id !== entry.id) && (await stages.expect(entry));
      const allows = openLedger([entry], today());
      if (added)
        differences.forget((one) => one.kind === "unexplained" && allows.allowing(one.endpoint, one) !== undefined);
      return added;
    },
    async configure(configured, expected) {
      shipped = expected;
      ledger = undefined;
      await stages.configure(configured);
    },
    shed: () => shadow.shed(),
    async close() {
      clearInterval(looking);
      await shadow.idle();
      await store.close();
    },
  };
};
