import type { Classification } from "../../libraries/compare/difference.ts";
import type { Ledger, LedgerEntry } from "../../libraries/compare/ledger.ts";
import type { Core } from "../../src/gateway/index.ts";
import { Comparisons, type StoredComparisons } from "./comparisons.ts";
import { type Bucketing, decide, type StageDecision } from "./decide.ts";
import type { ComparedAnswer } from "./differences.ts";
import { decideGate, decideWithoutGate, type Evidence, type GateDecision, whyNotAdvance } from "./gate.ts";
import { openGates } from "./gates.ts";
import { openNotices } from "./notices.ts";
import {
  type AuditMove,
  callersOf,
  type ConfiguredStage,
  isForward,
  type Move,
  type MoveNote,
  type Stage,
  type StageInForce,
} from "./stage.ts";
import { Stages } from "./stages.ts";
import type { StageStore } from "./stageStore.ts";
import type { Track } from "./track.ts";
import type { DifferenceView, Parity, StagesView, StageView } from "./views.ts";

/** The options of the migration. */
type MigrationOptions = StoredComparisons & {
  configured: Readonly<Record<string, ConfiguredStage>>;
  store: StageStore;
  /** Other gateways use the same stores: their comparisons count as well. */
  isShared: boolean;
  /** Without a modern side neither the settings nor operators can move an endpoint out of `legacy`. */
  hasModern: boolean;
  /** Called with the endpoints whose stage Redis has lost. */
  onLost: (endpoints: string[]) => void;
  /** Called when this gateway has stored a move. */
  onSet: () => void;
  /** Milliseconds between two checks of the gates. */
  look?: number | undefined;
};

/** Milliseconds between two checks of the gates. */
const LOOK_MS = 5000;

const legacyAlone = { stage: "legacy", share: 100 } as const;

/** The parts of the core that moving endpoints uses. */
type MovedCore = Pick<Core, "observer" | "meter" | "cache" | "traffic" | "events" | "catalogue">;

/**
 * The migration of the catalogue's endpoints: decides which side answers each endpoint, by its stage, and collects the
 * comparisons by which operators and gates move it.
 */
export class Migration {
  /** The names of all endpoints. */
  readonly endpoints: readonly string[];
  readonly hasModern: boolean;
  readonly isShared: boolean;
  readonly #core: MovedCore;
  readonly #notices: ReturnType<typeof openNotices>;
  readonly #comparisons: Comparisons;
  readonly #stages: Stages;
  readonly #gates: ReturnType<typeof openGates>;

  constructor(core: MovedCore, options: MigrationOptions) {
    this.#core = core;
    this.hasModern = options.hasModern;
    this.isShared = options.isShared;
    this.endpoints = Object.keys(core.catalogue.endpoints);
    this.#notices = openNotices((notice) => void core.events.emit("notice", notice));
    this.#comparisons = new Comparisons({
      ...options,
      meter: core.meter,
      endpoints: core.catalogue.endpoints,
      onUnexplained: (difference) => this.#notices.differs(difference),
    });
    const onUnwritten = (endpoint: string, error: Error): void =>
      core.observer.event("stage_not_kept", { endpoint, why: error.message });
    this.#stages = new Stages({
      store: options.store,
      endpoints: this.endpoints,
      configured: options.configured,
      onMove: (endpoint, from, to) => this.#onMove(endpoint, from, to),
      onLost: options.onLost,
      onStored: (move) => {
        options.onSet();
        this.#notices.moved(move);
      },
      onUnwritten,
    });
    this.#gates = openGates({
      endpoints: this.endpoints,
      interval: options.look ?? LOOK_MS,
      decisionOf: (endpoint) => this.#gateDecision(endpoint, this.#evidence(endpoint)),
      move: (...about) => this.#stages.move(...about),
      onUnwritten,
    });
    this.#warnOfUnproven(this.endpoints);
  }

  stageOf(endpoint: string): StageInForce {
    return this.#stages.of(endpoint);
  }

  isRead(endpoint: string): boolean {
    return this.#core.catalogue.endpoints[endpoint]?.writes === undefined;
  }

  /** True if modern answers callers of any endpoint. */
  isModernUsed(): boolean {
    return this.endpoints.some((name) => callersOf(this.stageOf(name)) > 0);
  }

  /** True if every endpoint is in `modern`. */
  isModernEverywhere(): boolean {
    return this.endpoints.every((name) => this.stageOf(name).stage === "modern");
  }

  /** Decides which side answers a caller. */
  decide(endpoint: string, caller: Bucketing): StageDecision {
    const decision = decide(this.stageOf(endpoint), caller);
    const { bucket } = decision;
    if (bucket !== undefined && this.track(endpoint).calledFrom(bucket)) this.#warnOfOneBucket(endpoint);
    return decision;
  }

  /** The measurements of an endpoint. */
  track(endpoint: string): Track {
    return this.#comparisons.tracks.get(endpoint) as Track;
  }

  /** True if this answer is to be compared, by the endpoint's stage. */
  isCompared(endpoint: string): boolean {
    const { stage, share } = this.stageOf(endpoint);
    // In canary the share counts callers: requests of all callers are compared.
    return stage === "canary" || (stage !== "legacy" && Math.random() * 100 < share);
  }

  /** Records a comparison of both sides on one request. */
  compared(answer: ComparedAnswer): void {
    this.#comparisons.add(answer);
    if (answer.differences.some(({ kind }) => kind === "unexplained")) this.#gates.check(answer.endpoint);
  }

  differences(kind: Classification): DifferenceView[] {
    return this.#comparisons.differences.view(kind);
  }

  /** All expected differences, also those that have ended. */
  expected(): readonly LedgerEntry[] {
    return this.#comparisons.ledger.entries();
  }

  /** The expected differences that are in force today. */
  ledger(): Ledger {
    return this.#comparisons.ledger.today();
  }

  /** The ids of ledger entries that have allowed a difference since the start. */
  fired(): ReadonlySet<string> {
    return this.#comparisons.ledger.fired();
  }

  view(): StagesView {
    return Object.fromEntries(this.endpoints.map((name) => [name, this.viewOf(name)]));
  }

  viewOf(endpoint: string): StageView {
    const at = this.stageOf(endpoint);
    const { configured: _, ...stage } = at;
    const track = this.track(endpoint);
    const evidence = this.#evidence(endpoint);
    const gate = this.#stages.gateOf(endpoint);
    const decision = this.#gateDecision(endpoint, evidence);
    const { hits, errors, ...recent } = this.#core.traffic.of(endpoint);
    return {
      ...stage,
      gate: gate === "none" ? undefined : gate,
      gateSays: decision?.reason,
      isGateFailing: decision?.isFailing,
      against: this.hasModern ? whyNotAdvance(at, evidence) : undefined,
      former: this.undoable(endpoint)?.from,
      lost: this.lost(endpoint),
      parity: evidence.all,
      parityInStage: track.parityInStage(at),
      wrongSince: callersOf(at) === 0 ? undefined : track.differsSince(at),
      ...recent,
      serverErrors: errors,
      hitRatio: recent.requests === 0 ? undefined : hits / recent.requests,
      latency: { legacy: track.latency("legacy"), modern: track.latency("modern") },
      errorRate: track.errorRate(),
      oneBucket: at.stage === "canary" ? track.oneBucket() : undefined,
    };
  }

  audit(): AuditMove[] {
    return this.#stages.audit();
  }

  /** The move of many endpoints that can be undone for this endpoint; `undefined` without such a move. */
  undoable(endpoint: string): Move | undefined {
    return this.#stages.undoable(endpoint);
  }

  /** The stage that was set for this endpoint, if Redis has lost it and no other stage was set since. */
  lost(endpoint: string): Stage | undefined {
    return this.#stages.lost(endpoint);
  }

  /**
   * The objection to this move, and its figures; `undefined` unless it is a step towards modern against the evidence.
   */
  against(endpoint: string, to: Stage): { why: string; evidence: Parity } | undefined {
    const at = this.stageOf(endpoint);
    if (!isForward(at, to)) return undefined;
    const evidence = this.#evidence(endpoint);
    const why = whyNotAdvance(at, evidence);
    return why === undefined ? undefined : { why, evidence: evidence.all };
  }

  /**
   * Moves an endpoint. Its gate does not act meanwhile.
   *
   * @returns False if another move came first.
   * @throws If the move could not be stored.
   */
  move(endpoint: string, to: Stage, by: string, why: string, note?: MoveNote): Promise<boolean> {
    return this.#gates.move(endpoint, to, by, why, note);
  }

  /** Puts new stages and a new ledger in force. */
  async configure(
    configured: Readonly<Record<string, ConfiguredStage>>,
    entries: readonly LedgerEntry[],
  ): Promise<void> {
    this.#comparisons.replaceLedger(entries);
    const before = new Map(this.endpoints.map((name) => [name, this.stageOf(name).since]));
    await this.#stages.configure(configured);
    this.#warnOfUnproven(this.endpoints.filter((name) => this.stageOf(name).since !== before.get(name)));
  }

  async close(): Promise<void> {
    this.#gates.close();
    this.#notices.close();
    await this.#comparisons.close();
  }

  #evidence(endpoint: string): Evidence {
    return this.track(endpoint).evidence(this.stageOf(endpoint));
  }

  /** The decision of an endpoint's gate; `undefined` if nothing moves it automatically. */
  #gateDecision(endpoint: string, evidence: Evidence): GateDecision | undefined {
    const [gate, at] = [this.#stages.gateOf(endpoint), this.stageOf(endpoint)];
    if (gate === "none") return undefined;
    return gate === undefined ? decideWithoutGate(at, evidence) : decideGate(gate, at, evidence);
  }

  #onMove(endpoint: string, from: StageInForce, { stage, share, by, why }: StageInForce): void {
    const { cache, observer } = this.#core;
    this.track(endpoint).moved();
    // Other callers or another side are served from now on.
    cache.invalidate({ endpoint, soft: false })?.catch(observer.fault);
    observer.event("stage_moved", { endpoint, from: from.stage, to: stage, share, by, why });
  }

  /** Warns of endpoints that the configuration moves against the evidence: they move anyway. */
  #warnOfUnproven(endpoints: readonly string[]): void {
    const unproven = endpoints.filter((endpoint) => {
      const at = this.stageOf(endpoint);
      return (
        at.by === "configuration" &&
        isForward(legacyAlone, at) &&
        whyNotAdvance(at, this.#evidence(endpoint)) !== undefined
      );
    });
    if (unproven.length > 0) this.#core.observer.event("stages_unproven", { endpoints: unproven });
  }

  #warnOfOneBucket(endpoint: string): void {
    this.#core.observer.event("canary_one_bucket", {
      endpoint,
      requests: this.track(endpoint).oneBucket(),
      share: this.stageOf(endpoint).share,
      advice: "behind a proxy, set TRUSTED_PROXIES to its address, and let it send X-Forwarded-For",
    });
  }
}
