import { type LedgerEntry, type Ledger, openLedger } from "../../compare/ledger.ts";
import { type Classification, type DifferenceResult, resultOf } from "../../compare/difference.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Notice } from "../../serve/feature.ts";
import type { Meter } from "../../telemetry/meter.ts";
import type { Observer } from "../../telemetry/observer.ts";
import { type BudgetSettings, openBudget } from "./budget.ts";
import { type Bucketing, decide, type StageDecision } from "./decide.ts";
import { openDifferences } from "./differences.ts";
import { openGates } from "./gates.ts";
import { type Mirrored, openShadow } from "./shadow.ts";
import { objectionTo } from "./objection.ts";
import {
  type ConfiguredStage,
  formerStages,
  isForward,
  type Move,
  type MoveNote,
  type Stage,
  type StageInForce,
} from "./stage.ts";
import { openStages } from "./stages.ts";
import { openNotices } from "./notices.ts";
import type { KeyValueStore } from "../../store/store.ts";
import type { EvidenceRecord, StateStore } from "./stateStore.ts";
import { openComparedRequests } from "./comparedRequests.ts";
import { openSavedEvidence } from "./savedEvidence.ts";
import { openTrack, type Track } from "./track.ts";
import type { DifferenceView, Parity, StagesView, StageView } from "./views.ts";

/** Decides which side answers each endpoint, and compares both sides. */
export type Migration = {
  decide(endpoint: string, caller: Bucketing): StageDecision;
  stageOf(endpoint: string): StageInForce;
  /** True if legacy alone answers it. */
  isUndivided(endpoint: string): boolean;
  track(endpoint: string): Pick<Track, "asked">;
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
  /** What speaks against this move, and the figures; `undefined` unless it is a step towards modern against the evidence. */
  against(endpoint: string, to: Stage): { why: string; evidence: Parity } | undefined;
  /** Where an endpoint was until everything went back to legacy, if it has not moved since. */
  formerOf(endpoint: string): Move["from"] | undefined;
  /** Moves one endpoint, whatever speaks against it; false if another move came first. Rejects if the store does not confirm the write. */
  move(endpoint: string, to: Stage, by: string, why: string, note?: MoveNote): Promise<boolean>;
  /** Puts new stages and a new ledger file in force. */
  configure(configured: Readonly<Record<string, ConfiguredStage>>, expected: readonly LedgerEntry[]): Promise<void>;
  hasModern: boolean;
  /** The number of comparisons that the budget had no room for. */
  shed(): number;
  /** What other gateways have compared counts as well. */
  isShared: boolean;
  close(): Promise<void>;
};

/** What the migration is opened with. */
export type MigrationOptions = {
  endpoints: Readonly<Record<string, Endpoint>>;
  configured: Readonly<Record<string, ConfiguredStage>>;
  expected: readonly LedgerEntry[];
  store: StateStore;
  evidence: KeyValueStore<EvidenceRecord>;
  /** Other gateways use the same stores. */
  isShared: boolean;
  /** Called with the endpoints whose stage Redis has lost. */
  onLost?: (endpoints: string[]) => void;
  hasModern: boolean;
  /** What makes the answers that are compared. Evidence is stored with it, and counts as long as it is the same. */
  evidenceOf: string;
  budget: BudgetSettings;
  observer: Observer;
  /** What the metrics count of an endpoint (default: nothing). */
  trafficOf?: Meter["traffic"];
  onCompared: (result: DifferenceResult) => void;
  /** Tells operators of moves and new unexplained differences. */
  notify?: (notice: Notice) => void;
  /** Called when other callers or another side are served: cached answers of the endpoint are out of date. */
  onMoved: (endpoint: string) => void;
  /** Milliseconds until a mismatch is checked again; default: a second. */
  settle?: number;
  /** Milliseconds between two checks of the gates, and two savings of the evidence; default: five seconds, ten seconds. */
  look?: number;
  save?: number;
  random?: () => number;
};

/** Opens the migration. Without a modern side all endpoints stay at `legacy`. */
export const openMigration = (settings: MigrationOptions): Migration => {
  const { store, observer, hasModern, random = Math.random } = settings;
  const { trafficOf = () => ({ requests: 0, hits: 0 }) } = settings;
  const names = Object.keys(settings.endpoints);
  const requests = new Map(names.map((name) => [name, openComparedRequests()]));
  const tracks = new Map([...requests].map(([name, compared]) => [name, openTrack(compared, () => trafficOf(name))]));
  const trackOf = (endpoint: string) => tracks.get(endpoint) as Track;
  const notices = openNotices(settings.notify ?? (() => undefined));
  const differences = openDifferences(random, undefined, (one) => {
    if (one.kind === "unexplained") notices.differs(one);
  });
  const ledger = openExpected(settings.expected);
  const onUnwritten = (endpoint: string, error: Error): undefined => {
    observer.event("stage_not_kept", { endpoint, why: error.message });
  };
  const stageOf = (endpoint: string): StageInForce =>
    hasModern ? stages.of(endpoint) : { ...stages.of(endpoint), stage: "legacy" };
  // Opened before the stages, which may report moves at once.
  const gates = openGates({
    endpoints: names,
    stageOf,
    gateOf: (endpoint) => stages.gateOf(endpoint),
    evidenceOf: (endpoint) => trackOf(endpoint).evidence(),
    move: (...about) => stages.move(...about),
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
      gates.changed(endpoint);
      settings.onMoved(endpoint);
      const { stage, share, by, why } = to;
      observer.event("stage_moved", { endpoint, from: from.stage, to: stage, share, by, why });
    },
    onLost: settings.onLost ?? (() => undefined),
    onStored: (move) => notices.moved(move),
  });
  // A hold after a demotion does not end with a restart, nor begin again in another gateway.
  for (const name of names) {
    const { by, stage, since } = stages.of(name);
    if (by === "gate" && stage === "shadow") trackOf(name).wasDemoted(Date.parse(since));
  }
  const removeAllowed = (allowed: Ledger): void => {
    differences.remove((one) => one.kind === "unexplained" && allowed.allowing(one.endpoint, one) !== undefined);
    const unexplained = new Set(differences.view("unexplained").map(({ endpoint }) => endpoint));
    for (const name of names) if (!unexplained.has(name)) requests.get(name)?.allow();
  };
  const sampling = setInterval(() => {
    for (const track of tracks.values()) track.sample();
  }, SAMPLE_MS).unref();
  const savedEvidence = openSavedEvidence({
    store: settings.evidence,
    of: settings.evidenceOf,
    requests,
    interval: settings.save,
  });
  const fired = new Set<string>();
  const shadow = openShadow({
    budget: openBudget(settings.budget),
    ledger: () => ledger.inForce(),
    settle: settings.settle ?? 1000,
    onCompared(mirrored, found) {
      const { name: endpoint, id, question, key, curl } = mirrored;
      settings.onCompared(resultOf(found));
      trackOf(endpoint).compared(id, found);
      for (const { entry } of found) if (entry !== undefined) fired.add(entry);
      if (found.length === 0) return;
      differences.add({ endpoint, question, at: new Date().toISOString(), differences: found, curl, key });
      if (found.some(({ kind }) => kind === "unexplained")) gates.check(endpoint);
    },
    onError: (error) => observer.event("internal_error", { error: (error as Error).stack }),
  });
  const noteBucket = (endpoint: string, bucket: number): void => {
    const track = trackOf(endpoint);
    const wasOne = track.oneBucket() !== undefined;
    track.calledFrom(bucket);
    const calls = track.oneBucket();
    if (calls === undefined || wasOne) return;
    const { share } = stageOf(endpoint);
    const advice = "behind a proxy, set TRUSTED_PROXIES to its address, and let it send X-Forwarded-For";
    observer.event("canary_one_bucket", { endpoint, requests: calls, share, advice });
  };
  const objection = (endpoint: string): string | undefined =>
    objectionTo(settings.endpoints[endpoint]?.writes !== undefined, trackOf(endpoint).parity());
  const against: Migration["against"] = (endpoint, to) => {
    const why = isForward(stageOf(endpoint), to) ? objection(endpoint) : undefined;
    return why === undefined ? undefined : { why, evidence: trackOf(endpoint).parity() };
  };
  const formerOf = (endpoint: string) => formerStages(store.state().audit).get(endpoint);
  const viewOf = (endpoint: string, former = formerStages(store.state().audit)): StageView => {
    const { configured: _, ...stage } = stageOf(endpoint);
    const [track, said] = [trackOf(endpoint), gates.says(endpoint)];
    return {
      ...stage,
      gate: stages.gateOf(endpoint),
      gateSays: said?.reason,
      isGateFailing: said?.isFailing,
      against: hasModern ? objection(endpoint) : undefined,
      former: former.get(endpoint),
      parity: track.parity(),
      parityInStage: track.parityInStage(),
      rate: track.rate(),
      hitRatio: track.hitRatio(),
      spark: track.curve(),
      latency: { legacy: track.latency("legacy"), modern: track.latency("modern") },
      errorRate: track.errorRate(),
      oneBucket: stage.stage === "canary" ? track.oneBucket() : undefined,
    };
  };
  /** The configuration is not held up. */
  const warnOf = (configured: readonly string[]): void => {
    const unproven = configured.filter((endpoint) => {
      const at = stageOf(endpoint);
      return at.by === "configuration" && isForward(legacyAlone, at) && objection(endpoint) !== undefined;
    });
    if (unproven.length > 0) observer.event("stages_unproven", { endpoints: unproven });
  };
  warnOf(names);

  return {
    hasModern,
    stageOf,
    isUndivided: (endpoint) => !hasModern || stages.of(endpoint).stage === "legacy",
    decide(endpoint, caller) {
      const decision = decide(stageOf(endpoint), caller);
      if (decision.bucket !== undefined) noteBucket(endpoint, decision.bucket);
      return decision;
    },
    track: trackOf,
    mirror(endpoint, mirrored) {
      const { stage, share } = stageOf(endpoint);
      // In canary the share is of the callers: requests of all callers are compared.
      const isWanted = stage === "canary" || (stage !== "legacy" && random() * 100 < share);
      if (isWanted) void shadow.compare(mirrored());
    },
    view() {
      const former = formerStages(store.state().audit);
      return Object.fromEntries(names.map((name) => [name, viewOf(name, former)]));
    },
    viewOf: (endpoint) => viewOf(endpoint),
    differences: (kind) => differences.view(kind),
    audit: () => store.state().audit,
    expected: () => ledger.entries(),
    ledger: () => ledger.inForce(),
    fired: () => fired,
    against,
    formerOf,
    move: (...about) => gates.move(...about),
    async configure(configured, expected) {
      ledger.replaceFile(expected);
      removeAllowed(ledger.inForce());
      const before = new Map(names.map((name) => [name, stageOf(name).since]));
      await stages.configure(configured);
      for (const name of names) gates.changed(name);
      warnOf(names.filter((name) => stageOf(name).since !== before.get(name)));
    },
    shed: () => shadow.shed(),
    isShared: settings.isShared,
    async close() {
      gates.close();
      notices.close();
      clearInterval(sampling);
      await shadow.idle();
      await savedEvidence.close();
    },
  };
};

const legacyAlone = { stage: "legacy", share: 100 } as const;

/** Milliseconds between two samples of the traffic. */
const SAMPLE_MS = 60_000;

const today = (): string => new Date().toISOString().slice(0, 10);

/** The expected differences. */
const openExpected = (initial: readonly LedgerEntry[]) => {
  let file = initial;
  let ledger: { of: Ledger; day: string } | undefined;
  return {
    entries: () => [...file],
    /** The entries that are in force today: they end with a day. */
    inForce(): Ledger {
      const day = today();
      if (ledger?.day !== day) ledger = { of: openLedger(file, day), day };
      return ledger.of;
    },
    replaceFile(next: readonly LedgerEntry[]): void {
      file = next;
      ledger = undefined;
    },
  };
};
