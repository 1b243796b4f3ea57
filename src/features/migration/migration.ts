import { type LedgerEntry, type Ledger, openLedger } from "../../compare/ledger.ts";
import { type Classification, type DifferenceResult, resultOf } from "../../compare/difference.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Notice } from "../../serve/notice.ts";
import type { Observer } from "../../telemetry/observer.ts";
import { type BudgetSettings, openBudget } from "./budget.ts";
import { type Bucketing, decide, type StageDecision } from "./decide.ts";
import { type Differences, openDifferences } from "./differences.ts";
import { type History, openHistory } from "./history/history.ts";
import { type Gates, openGates } from "./gates.ts";
import { type Mirrored, openShadow } from "./shadow.ts";
import { objectionTo } from "./objection.ts";
import {
  type Destination,
  formerStages,
  type Gate,
  isForward,
  type Move,
  movedAt,
  type MoveNote,
  type Stage,
  type StageInForce,
} from "./stage.ts";
import { openStages } from "./stages.ts";
import { openNotices } from "./notices.ts";
import type { StateStore } from "./store/stateStore.ts";
import type { EvidenceOfAnother, SharedComparison, SharedEvidence } from "./sharedEvidence.ts";
import { openTrack, type Track } from "./track.ts";
import type { DifferenceView, Parity, StagesView, StageView } from "./views.ts";

/** Decides which side answers each endpoint, and compares both sides. */
export type Migration = {
  decide(endpoint: string, caller: Bucketing): StageDecision;
  stageOf(endpoint: string): StageInForce;
  /** True if legacy alone answers it. */
  isUndivided(endpoint: string): boolean;
  track(endpoint: string): Pick<Track, "answered" | "asked">;
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
  against(endpoint: string, to: Pick<Stage, "stage" | "share">): { why: string; evidence: Parity } | undefined;
  /** Where an endpoint was until everything went back to legacy, if it has not moved since. */
  formerOf(endpoint: string): Move["from"] | undefined;
  /** Moves one endpoint, whatever speaks against it; false if another move came first. Rejects if the store does not confirm the write. */
  move(endpoint: string, to: Destination, by: string, why: string, note?: MoveNote): Promise<boolean>;
  /** Changes or removes (`null`) the gate of an endpoint, which stays where it is. Resolves and rejects as `move` does. */
  setGate(endpoint: string, gate: Gate | null, by: string, why: string): Promise<boolean>;
  history: Pick<History, "points" | "starts">;
  /** Adds an expected difference; false if its id is taken. Rejects as `move` does. */
  expect(entry: LedgerEntry): Promise<boolean>;
  /** Puts new stages and a new ledger file in force. */
  configure(configured: Readonly<Record<string, Stage>>, expected: readonly LedgerEntry[]): Promise<void>;
  hasModern: boolean;
  /** The number of comparisons that the budget had no room for. */
  shed(): number;
  /** The gateways whose evidence counts here, with this one. */
  gateways(): number;
  close(): Promise<void>;
};

/** What the migration is opened with. */
export type MigrationOptions = {
  endpoints: Readonly<Record<string, Endpoint>>;
  configured: Readonly<Record<string, Stage>>;
  expected: readonly LedgerEntry[];
  store: StateStore;
  hasModern: boolean;
  /** Shares what this gateway sees with the others; without it, it is the only one. */
  share?: ((onEvidence: (evidence: EvidenceOfAnother) => void) => SharedEvidence) | undefined;
  budget: BudgetSettings;
  observer: Observer;
  onCompared: (result: DifferenceResult) => void;
  /** Tells operators of moves and new unexplained differences. */
  notify?: (notice: Notice) => void;
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
  const history = openHistory(names);
  const tracks = new Map(names.map((name) => [name, openTrack(history.of(name))]));
  const trackOf = (endpoint: string) => tracks.get(endpoint) as Track;
  const notices = openNotices(settings.notify ?? (() => undefined));
  const differences = openDifferences(random, undefined, (one, { isOfAnother }) => {
    // The gateway that has compared it tells of it.
    if (one.kind === "unexplained" && !isOfAnother) notices.differs(one);
  });
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
    onGate: (endpoint) => gates.changed(endpoint),
    onStored: (move) => notices.moved(move),
  });
  // A hold after a demotion does not end with a restart, nor begin again in another gateway.
  for (const name of names) {
    const { by, stage, ...when } = stages.of(name);
    if (by === "gate" && stage === "shadow") trackOf(name).wasDemoted(Date.parse(movedAt(when)));
  }
  const removeAllowed = (allowed: Ledger): void => {
    differences.remove((one) => one.kind === "unexplained" && allowed.allowing(one.endpoint, one) !== undefined);
    const unexplained = new Set(differences.view("unexplained").map(({ endpoint }) => endpoint));
    for (const name of names) if (!unexplained.has(name)) trackOf(name).allowed();
  };
  store.onChange(() => removeAllowed(ledger.inForce()));
  const { shadow, fired, recordOfAnother } = openComparison(settings, {
    trackOf,
    differences,
    ledger,
    gates,
    others: () => others,
  });
  const noteBucket = (endpoint: string, bucket: number, count = 1): void => {
    const track = trackOf(endpoint);
    const wasOne = track.oneBucket() !== undefined;
    track.calledFrom(bucket, count);
    const calls = track.oneBucket();
    if (calls === undefined || wasOne) return;
    const { share } = stageOf(endpoint);
    const advice = "behind a proxy, set TRUSTED_PROXIES to its address, and let it send X-Forwarded-For";
    observer.event("canary_one_bucket", { endpoint, requests: calls, share, advice });
  };
  const others = settings.share?.(({ endpoints, compared }) => {
    for (const [endpoint, { hits, others: misses, asked, buckets }] of Object.entries(endpoints)) {
      const track = tracks.get(endpoint);
      if (track === undefined) continue;
      track.answered(true, hits);
      track.answered(false, misses);
      for (const side of ["legacy", "modern"] as const)
        for (const [ms, isFailed] of asked[side]) track.asked(side, ms, isFailed);
      for (const [bucket, count] of Object.entries(buckets)) noteBucket(endpoint, Number(bucket), count);
    }
    for (const one of compared) if (tracks.has(one.endpoint)) recordOfAnother(one);
  });
  const shared = new Map(others && names.map((name) => [name, sharing(name, trackOf(name), others)]));
  const objection = (endpoint: string): string | undefined =>
    objectionTo(settings.endpoints[endpoint]?.writes !== undefined, trackOf(endpoint).parity());
  const against: Migration["against"] = (endpoint, to) => {
    const why = isForward(stageOf(endpoint), to) ? objection(endpoint) : undefined;
    return why === undefined ? undefined : { why, evidence: trackOf(endpoint).parity() };
  };
  const formerOf = (endpoint: string) => formerStages(store.state().audit).get(endpoint);
  const viewOf = (
    endpoint: string,
    requestsOf = history.requests(),
    former = formerStages(store.state().audit),
  ): StageView => ({
    ...formatStage(stageOf(endpoint), trackOf(endpoint), gates.says(endpoint)),
    against: hasModern ? objection(endpoint) : undefined,
    former: former.get(endpoint),
    spark: requestsOf(endpoint),
  });
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
      if (decision.bucket !== undefined) {
        noteBucket(endpoint, decision.bucket);
        others?.calledFrom(endpoint, decision.bucket);
      }
      return decision;
    },
    track: (endpoint) => shared.get(endpoint) ?? trackOf(endpoint),
    mirror(endpoint, mirrored) {
      const { stage, share } = stageOf(endpoint);
      // In canary the share is of the callers: requests of all callers are compared.
      const isWanted = stage === "canary" || (stage !== "legacy" && random() * 100 < share);
      if (isWanted) void shadow.compare(mirrored());
    },
    view() {
      const [requestsOf, former] = [history.requests(), formerStages(store.state().audit)];
      return Object.fromEntries(names.map((name) => [name, viewOf(name, requestsOf, former)]));
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
    setGate: (endpoint, gate, by, why) => stages.setGate(endpoint, gate, by, why),
    history,
    async expect(entry) {
      const isAdded = ledger.isNew(entry) && (await store.expect(entry));
      if (isAdded) removeAllowed(openLedger([entry], today()));
      return isAdded;
    },
    async configure(configured, expected) {
      ledger.replaceFile(expected);
      removeAllowed(ledger.inForce());
      const before = new Map(names.map((name) => [name, stageOf(name).since]));
      await stages.configure(configured);
      warnOf(names.filter((name) => stageOf(name).since !== before.get(name)));
    },
    shed: () => shadow.shed(),
    gateways: () => others?.gateways() ?? 1,
    async close() {
      others?.close();
      gates.close();
      notices.close();
      history.close();
      await shadow.idle();
      await store.close();
    },
  };
};

/** Counts what is measured here, and for the other gateways. */
const sharing = (endpoint: string, track: Track, others: SharedEvidence): Pick<Track, "answered" | "asked"> => ({
  answered(isHit) {
    track.answered(isHit);
    others.answered(endpoint, isHit);
  },
  asked(...call) {
    track.asked(...call);
    others.asked(endpoint, ...call);
  },
});

const legacyAlone = { stage: "legacy", share: 100 } as const;

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
  others: () => SharedEvidence | undefined;
};

/** Compares requests, and counts the results. `fired`: the ids of ledger entries that have allowed a difference. */
const openComparison = (
  { budget, observer, onCompared, settle = 1000 }: MigrationOptions,
  { trackOf, differences, ledger, gates, others }: ComparisonParts,
) => {
  const fired = new Set<string>();
  type Recorded = Omit<SharedComparison, "curl"> &
    Pick<Mirrored, "curl"> & { key?: string | undefined; isOfAnother?: true };
  const record = ({ id, ...compared }: Recorded): void => {
    const { endpoint, differences: found } = compared;
    trackOf(endpoint).compared(id, found);
    for (const { entry } of found) if (entry !== undefined) fired.add(entry);
    if (found.length > 0) differences.add(compared);
    if (found.some(({ kind }) => kind === "unexplained")) gates.check(endpoint);
  };
  const shadow = openShadow({
    budget: openBudget(budget),
    ledger: () => ledger.inForce(),
    settle,
    onCompared(mirrored, found) {
      const { name: endpoint, id, question, key, curl } = mirrored;
      const at = new Date().toISOString();
      onCompared(resultOf(found));
      others()?.compared(mirrored, found, at);
      record({ endpoint, id, question, at, differences: found, curl, key });
    },
    onError: (error) => observer.event("internal_error", { error: (error as Error).stack }),
  });
  const recordOfAnother = ({ curl, ...compared }: SharedComparison): void =>
    record({ ...compared, curl: () => curl, isOfAnother: true });
  return { shadow, fired, recordOfAnother };
};

const formatStage = (
  stageInForce: StageInForce,
  track: Track,
  gateSays: ReturnType<Gates["says"]>,
): Omit<StageView, "spark" | "against" | "former"> => {
  const { configured: _, ...stage } = stageInForce;
  const oneBucket = stage.stage === "canary" ? track.oneBucket() : undefined;
  return {
    ...stage,
    parity: track.parity(),
    parityInStage: track.parityInStage(),
    rate: track.rate(),
    hitRatio: track.hitRatio(),
    latency: { legacy: track.latency("legacy"), modern: track.latency("modern") },
    errorRate: track.errorRate(),
    ...(oneBucket === undefined ? {} : { oneBucket }),
    ...(gateSays === undefined ? {} : { gateSays: gateSays.reason, isGateFailing: gateSays.isFailing }),
  };
};
