import type { LedgerEntry } from "../../libraries/compare/ledger.ts";
import { type Classification, resultOf } from "../../libraries/compare/difference.ts";
import type { Core } from "../../src/gateway/index.ts";
import { openComparedRequests } from "./comparedRequests.ts";
import { type Bucketing, decide, type StageDecision } from "./decide.ts";
import { type ComparedAnswer, openDifferences } from "./differences.ts";
import { decideGate, decideWithoutGate, type GateDecision, whyNotAdvance } from "./gate.ts";
import { openGates } from "./gates.ts";
import { openLedgerInForce } from "./ledgerInForce.ts";
import { countComparisons } from "./metrics.ts";
import { openNotices } from "./notices.ts";
import { type EvidenceStore, openSavedEvidence } from "./savedEvidence.ts";
import { callersOf, type ConfiguredStage, isForward, type Stage, type StageInForce } from "./stage.ts";
import { openStages, type StageStore } from "./stages.ts";
import { openTrack, type Track } from "./track.ts";
import type { Parity, StagesView, StageView } from "./views.ts";

/** Decides which side answers each endpoint, and collects the results of comparisons. */
export type Migration = ReturnType<typeof openMigration>;

/** The options of the migration. */
type MigrationOptions = {
  configured: Readonly<Record<string, ConfiguredStage>>;
  expected: readonly LedgerEntry[];
  store: StageStore;
  evidence: EvidenceStore;
  /** Other gateways use the same stores: their comparisons count as well. */
  isShared: boolean;
  /** Without a modern side all endpoints stay at `legacy`. */
  hasModern: boolean;
  /** Identifies what makes the compared answers. Evidence is stored with it, and counts as long as it is the same. */
  evidenceOf: string;
  /** Called with the endpoints whose stage Redis has lost. */
  onLost: (endpoints: string[]) => void;
  /** Called when this gateway has stored a move. */
  onSet: () => void;
  /** Milliseconds between two checks of the gates, and two savings of the evidence. */
  look?: number | undefined;
  save?: number | undefined;
};

/** Milliseconds between two checks of the gates. */
const LOOK_MS = 5000;

const legacyAlone = { stage: "legacy", share: 100 } as const;

/** The parts of the core that moving endpoints uses. */
type MovedCore = Pick<Core, "observer" | "meter" | "cache" | "traffic" | "events" | "catalogue">;

/**
 * Opens the migration of the catalogue's endpoints: the evidence, the ledger, the stages, the gates, and
 * what follows from these.
 */
export const openMigration = (core: MovedCore, options: MigrationOptions) => {
  const { observer, meter, cache, events, traffic } = core;
  const { endpoints } = core.catalogue;
  const { hasModern } = options;
  const names = Object.keys(endpoints);
  const isRead = (endpoint: string): boolean => endpoints[endpoint]?.writes === undefined;

  const requests = new Map(names.map((name) => [name, openComparedRequests()]));
  const tracks = new Map([...requests].map(([name, compared]) => [name, openTrack(compared, !isRead(name))]));
  const trackOf = (endpoint: string) => tracks.get(endpoint) as Track;
  const notices = openNotices((notice) => void events.emit("notice", notice));
  const differences = openDifferences((difference) => {
    if (difference.kind === "unexplained") notices.differs(difference);
  });
  const countResult = countComparisons(meter);
  const savedEvidence = openSavedEvidence({
    store: options.evidence,
    of: options.evidenceOf,
    requests,
    interval: options.save,
  });

  const ledger = openLedgerInForce(options.expected);
  /** Removes the unexplained differences that the ledger allows now. */
  const removeAllowed = (): void => {
    const today = ledger.today();
    differences.remove((group) => group.kind === "unexplained" && today.allowing(group.endpoint, group) !== undefined);
    const unexplained = new Set(differences.view("unexplained").map(({ endpoint }) => endpoint));
    for (const [name, compared] of requests) if (!unexplained.has(name)) compared.allow();
  };

  const onUnwritten = (endpoint: string, error: Error): undefined => {
    observer.event("stage_not_kept", { endpoint, why: error.message });
  };
  const stages = openStages({
    store: options.store,
    endpoints: names,
    configured: options.configured,
    onUnwritten,
    onMove(endpoint, from, to) {
      trackOf(endpoint).moved();
      // Other callers or another side are served from now on.
      cache.invalidate({ endpoint, soft: false })?.catch(observer.fault);
      const { stage, share, by, why } = to;
      observer.event("stage_moved", { endpoint, from: from.stage, to: stage, share, by, why });
    },
    onLost: options.onLost,
    onStored(move) {
      options.onSet();
      notices.moved(move);
    },
  });
  const stageOf = (endpoint: string): StageInForce =>
    hasModern ? stages.of(endpoint) : { ...stages.of(endpoint), stage: "legacy" };

  const gateDecision = (endpoint: string): GateDecision | undefined => {
    const [gate, at] = [stages.gateOf(endpoint), stageOf(endpoint)];
    if (gate === "none") return undefined;
    const evidence = trackOf(endpoint).evidence(at);
    return gate === undefined ? decideWithoutGate(at, evidence) : decideGate(gate, at, evidence);
  };
  const gates = openGates({
    endpoints: names,
    interval: options.look ?? LOOK_MS,
    decisionOf: gateDecision,
    move: (...args) => stages.move(...args),
    onUnwritten,
  });

  const objection = (endpoint: string): string | undefined =>
    whyNotAdvance(stageOf(endpoint), trackOf(endpoint).evidence(stageOf(endpoint)));
  /** Warns of endpoints that the configuration moves against the evidence: they move anyway. */
  const warnOf = (configured: readonly string[]): void => {
    const unproven = configured.filter((endpoint) => {
      const at = stageOf(endpoint);
      return at.by === "configuration" && isForward(legacyAlone, at) && objection(endpoint) !== undefined;
    });
    if (unproven.length > 0) observer.event("stages_unproven", { endpoints: unproven });
  };
  warnOf(names);

  const warnOfOneBucket = (endpoint: string): void =>
    observer.event("canary_one_bucket", {
      endpoint,
      requests: trackOf(endpoint).oneBucket(),
      share: stageOf(endpoint).share,
      advice: "behind a proxy, set TRUSTED_PROXIES to its address, and let it send X-Forwarded-For",
    });

  const viewOf = (endpoint: string): StageView => {
    const { configured: _, ...stage } = stageOf(endpoint);
    const [track, decision] = [trackOf(endpoint), gateDecision(endpoint)];
    const { hits, errors, ...recent } = traffic.of(endpoint);
    const gate = stages.gateOf(endpoint);
    return {
      ...stage,
      gate: gate === "none" ? undefined : gate,
      gateSays: decision?.reason,
      isGateFailing: decision?.isFailing,
      against: hasModern ? objection(endpoint) : undefined,
      former: stages.undoable(endpoint)?.from,
      lost: stages.lost(endpoint),
      parity: track.parity(),
      parityInStage: track.parityInStage(stageOf(endpoint)),
      wrongSince: callersOf(stage) === 0 ? undefined : track.differsSince(stageOf(endpoint)),
      ...recent,
      serverErrors: errors,
      hitRatio: recent.requests === 0 ? undefined : hits / recent.requests,
      latency: { legacy: track.latency("legacy"), modern: track.latency("modern") },
      errorRate: track.errorRate(),
      oneBucket: stage.stage === "canary" ? track.oneBucket() : undefined,
    };
  };

  return {
    hasModern,
    isShared: options.isShared,
    stageOf,
    decide(endpoint: string, caller: Bucketing): StageDecision {
      const decision = decide(stageOf(endpoint), caller);
      const { bucket } = decision;
      if (bucket !== undefined && trackOf(endpoint).calledFrom(bucket)) warnOfOneBucket(endpoint);
      return decision;
    },
    track: trackOf as (endpoint: string) => Pick<Track, "asked">,
    /** True if modern answers callers of any endpoint. */
    isModernUsed: (): boolean =>
      names.map(stageOf).some(({ stage, share }) => stage === "modern" || (stage === "canary" && share > 0)),
    /** True if every endpoint is in `modern`. */
    isModernEverywhere: (): boolean => names.every((name) => stageOf(name).stage === "modern"),
    /** True if this answer is to be compared, by the endpoint's stage. */
    isCompared(endpoint: string): boolean {
      const { stage, share } = stageOf(endpoint);
      // In canary the share counts callers: requests of all callers are compared.
      return stage === "canary" || (stage !== "legacy" && Math.random() * 100 < share);
    },
    /** Records a comparison of both sides on one request. */
    compared(answer: ComparedAnswer): void {
      const { id, endpoint } = answer;
      countResult(resultOf(answer.differences));
      trackOf(endpoint).compared(id, answer.differences);
      ledger.note(answer.differences);
      differences.add(answer);
      if (answer.differences.some(({ kind }) => kind === "unexplained")) gates.check(endpoint);
    },
    view: (): StagesView => Object.fromEntries(names.map((name) => [name, viewOf(name)])),
    viewOf,
    differences: (kind: Classification) => differences.view(kind),
    audit: stages.audit,
    /** All expected differences, also those that have ended. */
    expected: ledger.entries,
    /** The expected differences that are in force today. */
    ledger: () => ledger.today(),
    /** The ids of ledger entries that have allowed a difference since the start. */
    fired: ledger.fired,
    /**
     * The objection to this move, and its figures; `undefined` unless it is a step towards
     * modern against the evidence.
     */
    against(endpoint: string, to: Stage): { why: string; evidence: Parity } | undefined {
      const why = isForward(stageOf(endpoint), to) ? objection(endpoint) : undefined;
      return why === undefined ? undefined : { why, evidence: trackOf(endpoint).parity() };
    },
    undoable: (endpoint: string) => stages.undoable(endpoint),
    lost: (endpoint: string) => stages.lost(endpoint),
    isRead,
    move: gates.move,
    /** Puts new stages and a new ledger in force. */
    async configure(
      configured: Readonly<Record<string, ConfiguredStage>>,
      entries: readonly LedgerEntry[],
    ): Promise<void> {
      ledger.replace(entries);
      removeAllowed();
      const before = new Map(names.map((name) => [name, stageOf(name).since]));
      await stages.configure(configured);
      warnOf(names.filter((name) => stageOf(name).since !== before.get(name)));
    },
    async close(): Promise<void> {
      gates.close();
      notices.close();
      await savedEvidence.close();
    },
  };
};
