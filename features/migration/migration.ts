import type { LedgerEntry } from "../../libraries/compare/ledger.ts";
import type { Core } from "../../src/gateway/index.ts";
import { Comparisons, type StoredComparisons } from "./comparisons.ts";
import { type Bucketing, decide, type StageDecision } from "./decide.ts";
import type { ComparedAnswer } from "./differences.ts";
import { decideGate, decideWithoutGate, type Evidence, type GateDecision, type Parity, whyNotAdvance } from "./gate.ts";
import { openNotices } from "./notices.ts";
import { callersOf, isForward, isSameStage, type MoveNote, type Stage, type StageInForce } from "./stage.ts";
import { Stages, type StagesSettings } from "./stages.ts";
import type { OldClients } from "./oldClients.ts";
import type { Track } from "./track.ts";

type MigrationOptions = StoredComparisons &
  Pick<StagesSettings, "configured" | "store"> & {
    /** Other gateways use the same stores: their comparisons count as well. */
    isShared: boolean;
    /** Without a modern side neither the settings nor operators can move an endpoint out of `legacy`. */
    hasModern: boolean;
    /** Called when this gateway has stored a move. */
    onSet: () => void;
    /** Milliseconds between two checks of the gates. */
    look?: number | undefined;
  };

export type StageView = ReturnType<Migration["viewOf"]>;

/** `GET /stages`, by the endpoint's name. */
export type StagesView = Record<string, StageView>;

/** Milliseconds between two checks of the gates. */
const LOOK_MS = 5000;

const legacyAlone = { stage: "legacy", share: 100 } as const;

type MovedCore = Pick<
  Core,
  "observer" | "meter" | "cache" | "traffic" | "events" | "catalogue" | "provedReads" | "settings"
>;

/**
 * The migration of the catalogue's endpoints: decides which side answers each endpoint, by its stage, and collects the
 * comparisons by which operators and gates move it.
 */
export class Migration {
  readonly endpoints: readonly string[];
  readonly hasModern: boolean;
  readonly isShared: boolean;
  readonly comparisons: Comparisons;
  readonly stages: Stages;
  readonly #core: MovedCore;
  /** Endpoints whose old clients follow the stage; they do so until modern has no callers. */
  readonly #followed = new Set<string>();
  readonly #notices: ReturnType<typeof openNotices>;
  readonly #checking: NodeJS.Timeout;

  constructor(core: MovedCore, options: MigrationOptions) {
    this.#core = core;
    this.hasModern = options.hasModern;
    this.isShared = options.isShared;
    this.endpoints = Object.keys(core.catalogue.endpoints);
    this.#notices = openNotices((notice) => void core.events.emit("notice", notice));
    this.comparisons = new Comparisons({
      ...options,
      core,
      onUnexplained: (difference) => this.#notices.differs(difference),
    });
    this.stages = new Stages({
      store: options.store,
      endpoints: this.endpoints,
      configured: options.configured,
      onMove: (endpoint, from, to) => this.#onMove(endpoint, from, to),
      onLost: (endpoints) => {
        const had = Object.fromEntries(endpoints.map((name) => [name, this.stages.lost(name)]));
        core.observer.event("stages_lost", { endpoints, had });
      },
      onStored: (move) => {
        options.onSet();
        this.#notices.moved(move);
      },
      onUnwritten: (endpoint, error) => this.#reportUnwritten(endpoint, error),
    });
    const checkGates = () => this.endpoints.forEach((name) => this.#checkGate(name));
    this.#checking = setInterval(checkGates, options.look ?? LOOK_MS).unref();
    this.#warnOfUnproven(this.endpoints);
  }

  isRead(endpoint: string): boolean {
    return this.#core.catalogue.endpoints[endpoint]?.writes === undefined;
  }

  /** True if modern answers callers of any endpoint. */
  isModernUsed(): boolean {
    return this.endpoints.some((name) => callersOf(this.stages.of(name)) > 0);
  }

  isModernEverywhere(): boolean {
    return this.endpoints.every((name) => this.stages.of(name).stage === "modern");
  }

  /**
   * True if reads of old clients go where the endpoint's stage says: modern has callers, and since then the evidence on
   * old clients has held, or an operator gave a reason. It is asked at every hit of old clients.
   */
  movesOldClients(endpoint: string): boolean {
    if (!this.#core.provedReads.has(endpoint) || callersOf(this.stages.of(endpoint)) === 0) return false;
    if (this.#followed.has(endpoint)) return true;
    const mayFollow = this.comparisons.oldClients.isProven(endpoint) || this.stages.hasOldClients(endpoint);
    if (mayFollow) this.#followed.add(endpoint);
    return mayFollow;
  }

  /** Sets the endpoints whose old clients may follow the stage. */
  follow(settings: Parameters<OldClients["follow"]>[0]): void {
    this.comparisons.oldClients.follow(settings);
    for (const endpoint of this.#followed) if (!this.#core.provedReads.has(endpoint)) this.#followed.delete(endpoint);
  }

  decide(endpoint: string, caller: Bucketing): StageDecision {
    const decision = decide(this.stages.of(endpoint), caller);
    const { bucket } = decision;
    if (bucket !== undefined && this.track(endpoint).calledFrom(bucket)) this.#warnOfOneBucket(endpoint);
    return decision;
  }

  track(endpoint: string): Track {
    return this.comparisons.tracks.get(endpoint) as Track;
  }

  /** True if this answer is to be compared, by the endpoint's stage. */
  isCompared(endpoint: string): boolean {
    const { stage, share } = this.stages.of(endpoint);
    // In canary the share counts callers: requests of all callers are compared.
    return stage === "canary" || (stage !== "legacy" && Math.random() * 100 < share);
  }

  /** Records a comparison of both sides on one request. */
  compared(answer: ComparedAnswer): void {
    this.comparisons.add(answer);
    if (answer.differences.some(({ kind }) => kind === "unexplained")) this.#checkGate(answer.endpoint);
  }

  view(): StagesView {
    return Object.fromEntries(this.endpoints.map((name) => [name, this.viewOf(name)]));
  }

  /** One endpoint, as `GET /stages` and the page show it. */
  viewOf(endpoint: string) {
    const at = this.stages.of(endpoint);
    const { configured: _, ...stage } = at;
    const track = this.track(endpoint);
    const evidence = this.#evidence(endpoint);
    const gate = this.stages.gateOf(endpoint);
    const decision = this.#gateDecision(endpoint, evidence);
    const { hits, errors, ...recent } = this.#core.traffic.of(endpoint);
    return {
      ...stage,
      /** The bounds by which it moves automatically, from `STAGES`. */
      gate: gate === "none" ? undefined : gate,
      /** The gate's reason to promote now, or not to; `undefined` without a gate. */
      gateSays: decision?.reason,
      /** True if modern is worse than the gate allows; `undefined` without a gate. */
      isGateFailing: decision?.isFailing,
      /** The objection to a step towards modern: such a move needs a reason `despite`. */
      against: this.hasModern ? whyNotAdvance(at, evidence) : undefined,
      /** Its stage before the last move of many endpoints, if it was part of that and has not moved since. */
      former: this.stages.undoable(endpoint)?.from,
      /** The stage that Redis has lost, if the endpoint has not moved since. */
      lost: this.stages.lost(endpoint),
      /** Of all gateways, since the endpoint's definition or `MODERN_URL` changed. No restart or move empties it. */
      parity: evidence.all,
      /** Since the endpoint's last move or this gateway's start: the gate looks at this. */
      parityInStage: track.parityInStage(at),
      /** The evidence on old clients, if `MOVE_LEGACY` covers it; `isMoved`: they follow the stage. */
      oldClients: this.#core.provedReads.has(endpoint)
        ? { ...this.comparisons.oldClients.counts(endpoint), isMoved: this.movesOldClients(endpoint) }
        : undefined,
      /** The objection to letting old clients follow the stage, while modern has callers and they do not. */
      oldClientsHeld: callersOf(at) > 0 && !this.movesOldClients(endpoint) ? evidence.oldClients : undefined,
      /** Since when callers may get wrong answers (ISO 8601): modern answers some, and differs without a reason. */
      wrongSince: callersOf(at) === 0 ? undefined : track.differsSince(at),
      /** Requests of the last five minutes, also a second. */
      ...recent,
      /** Those of them with a 5xx, and the share (0-1) that the cache answered; `undefined` without a request. */
      serverErrors: errors,
      hitRatio: recent.requests === 0 ? undefined : hits / recent.requests,
      latency: { legacy: track.latency("legacy"), modern: track.latency("modern") },
      errorRate: track.errorRate(),
      /** Requests of this canary, if all of its callers are in one bucket: its share then moves all of them or none. */
      oneBucket: at.stage === "canary" ? track.oneBucket() : undefined,
    };
  }

  /**
   * The objection to this move, and its figures; `undefined` unless it is a step towards modern against the evidence.
   */
  against(endpoint: string, to: Stage): { why: string; evidence: Parity } | undefined {
    const at = this.stages.of(endpoint);
    if (!isForward(at, to)) return undefined;
    const evidence = this.#evidence(endpoint);
    const why = whyNotAdvance(at, evidence);
    return why === undefined ? undefined : { why, evidence: evidence.all };
  }

  /**
   * The facts that the audit log stores of this move: the reason if it needs one, and whether old clients follow from
   * then on.
   */
  noteOf(endpoint: string, to: Stage, despite?: string): MoveNote {
    const held = this.comparisons.oldClients.objection(endpoint);
    const isToldOfHeld = held !== undefined && isSameStage(this.stages.of(endpoint), to);
    const isAgainst = despite !== undefined && (isToldOfHeld || this.against(endpoint, to) !== undefined);
    const mayFollow = this.#core.provedReads.has(endpoint) && callersOf(to) > 0 && (held === undefined || isAgainst);
    return { ...(isAgainst && { despite }), ...(mayFollow && { oldClients: true as const }) };
  }

  /** Puts new stages and a new ledger in force. */
  async configure(configured: StagesSettings["configured"], entries: readonly LedgerEntry[]): Promise<void> {
    this.comparisons.replaceLedger(entries);
    const before = new Map(this.endpoints.map((name) => [name, this.stages.of(name).since]));
    await this.stages.configure(configured);
    this.#warnOfUnproven(this.endpoints.filter((name) => this.stages.of(name).since !== before.get(name)));
  }

  async close(): Promise<void> {
    clearInterval(this.#checking);
    this.#notices.close();
    await this.comparisons.close();
  }

  #evidence(endpoint: string): Evidence {
    const oldClients = this.comparisons.oldClients.objection(endpoint);
    return { ...this.track(endpoint).evidence(this.stages.of(endpoint)), oldClients };
  }

  /** The decision of an endpoint's gate; `undefined` if nothing moves it automatically. */
  #gateDecision(endpoint: string, evidence: Evidence): GateDecision | undefined {
    const [gate, at] = [this.stages.gateOf(endpoint), this.stages.of(endpoint)];
    if (gate === "none") return undefined;
    return gate === undefined ? decideWithoutGate(at, evidence) : decideGate(gate, at, evidence);
  }

  /** Moves an endpoint if its gate says so, and no other move is under way. */
  #checkGate(endpoint: string): void {
    if (this.stages.isMoving(endpoint)) return;
    const decision = this.#gateDecision(endpoint, this.#evidence(endpoint));
    if (decision?.to === undefined) return;
    this.stages
      .move(endpoint, decision.to, "gate", decision.reason, this.noteOf(endpoint, decision.to))
      .catch((error: Error) => this.#reportUnwritten(endpoint, error));
  }

  #reportUnwritten(endpoint: string, error: Error): void {
    this.#core.observer.event("stage_not_kept", { endpoint, why: error.message });
  }

  #onMove(endpoint: string, from: StageInForce, { stage, share, by, why }: StageInForce): void {
    const { cache, observer } = this.#core;
    this.track(endpoint).moved();
    if (callersOf({ stage, share }) === 0) this.#followed.delete(endpoint);
    // Other callers or another side are served from now on.
    cache.invalidate({ endpoint, soft: false })?.catch(observer.fault);
    observer.event("stage_moved", { endpoint, from: from.stage, to: stage, share, by, why });
  }

  /** Warns of endpoints that the configuration moves against the evidence: they move anyway. */
  #warnOfUnproven(endpoints: readonly string[]): void {
    const unproven = endpoints.filter((endpoint) => {
      const at = this.stages.of(endpoint);
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
      share: this.stages.of(endpoint).share,
      advice: "behind a proxy, set TRUSTED_PROXIES to its address, and let it send X-Forwarded-For",
    });
  }
}
