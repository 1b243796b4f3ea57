import { ErrorReply } from "@redis/client";
import { openOtherGateways } from "./otherGateways.ts";
import { LEASE_MS, Term } from "./term.ts";

/** The events of the shared tier. */
export type SharedTierEvent = "shared_tier_up" | "shared_tier_lost" | "shared_tier_error" | "redis_key_set_aside";

/** The answer of Redis to a heartbeat. */
export type Heartbeat = {
  /** `undefined` if Redis is full. */
  epoch: string | undefined;
  /** The epochs in the request that Redis does not know. */
  unknown: readonly string[];
  /** The ids of the other gateways that listen. */
  others: readonly string[];
};

type ReplicationLeaseSettings = {
  isListening: () => boolean;
  /** Sends a heartbeat. `epochs`: does Redis know these? */
  ask: (epochs: readonly string[]) => Promise<Heartbeat>;
  /** Sends the pending invalidations. */
  flush: () => Promise<void>;
  /** Asks the other gateways to answer once they have no pending invalidations; tells them of this gateway. */
  callOthers: () => void;
  /** Called if any entry that is cached here up to now may have been invalidated. */
  distrust: () => void;
  /** Empties Redis. From then on it knows these epochs: it holds nothing that they have invalidated. */
  empty: (epochs: readonly string[]) => Promise<void>;
  /** Makes new connections. */
  renew: () => void;
  onEvent: (event: SharedTierEvent, about: Record<string, unknown>) => void;
  /** Milliseconds, by default 4500, after which gateways in the same gap have sent their pending invalidations. */
  waitForOthers?: number | undefined;
};

/**
 * - `starting`: it was never held.
 * - `held`: until a loss.
 * - `lost`: Redis has not answered since the loss.
 * - `returning`: Redis has answered, and other gateways may have pending invalidations until `othersBackAt`.
 * - `closed`: for good.
 */
type LeaseState = { is: "starting" | "held" | "lost" | "closed" } | { is: "returning"; othersBackAt: number };

/** Milliseconds between two heartbeats. */
const INTERVAL = 300;
/** Milliseconds without an answer until new connections are opened. */
const RECONNECT_AFTER_MS = 3000;
/** Another gateway loses Redis at most a term later, and then opens new connections in this time. */
const WAIT_FOR_OTHERS_MS = LEASE_MS + RECONNECT_AFTER_MS;

/**
 * The lease is held while this gateway may trust its cached entries: Redis has answered a moment ago, and no
 * invalidation was missed. Every invalidation begins an epoch. If Redis answers with an epoch that was not announced to
 * this gateway, it has missed an invalidation. A Redis that refuses the heartbeat is lost at once.
 *
 * After a gap, Redis's first answer shows what was missed in it:
 * - The epoch is the last that this gateway knew: it missed nothing, and keeps its entries.
 * - The epoch is a different one: this gateway distrusts its own entries. Those in Redis are right.
 * - Redis does not know the last epoch: it has lost invalidations, and is emptied.
 *
 * The lease begins when the other gateways have sent the invalidations that were pending in the gap: each earlier
 * gateway has said so, and a gateway that started in the gap has had the time. If a gateway does not come back, some
 * invalidations may be lost with it: Redis is emptied then as well.
 */
export class ReplicationLease {
  readonly #settings: ReplicationLeaseSettings;
  readonly #others = openOtherGateways();
  readonly #beating: NodeJS.Timeout;
  #state: LeaseState = { is: "starting" };
  /** A new term after each loss: answers to requests from an earlier term are ignored. */
  #term = new Term();
  #isBeating = false;
  /** When Redis answered last, or when the connections were opened. */
  #answeredAt = performance.now();
  /** The last epoch that arrived before the last loss, and this gateway's last epoch that Redis has confirmed. */
  #arrived: string | undefined;
  #confirmed: string | undefined;
  /** While there are any, Redis may hold entries that were invalidated. */
  #unknownEpochs: readonly string[] = [];
  /** The errors that were reported since the state changed. */
  readonly #errors = new Set<string>();

  constructor(settings: ReplicationLeaseSettings) {
    this.#settings = settings;
    this.#beating = setInterval(() => this.#tick(), INTERVAL).unref();
  }

  isHeld(): boolean {
    return this.#state.is === "held" && this.#term.isRunning && this.#settings.isListening();
  }

  /** The epoch of the last invalidation that arrived here. */
  epoch(): string | undefined {
    return this.#term.epoch;
  }

  #tick(): void {
    if (this.#state.is === "held" && !this.isHeld()) this.lose("it did not answer in time");
    if (this.#term.isRunning && this.#settings.isListening()) this.#answeredAt = performance.now();
    else if (performance.now() - this.#answeredAt > RECONNECT_AFTER_MS) this.#reconnect();
    this.beat();
  }

  /** Sends a heartbeat, unless one is under way. */
  beat(): void {
    this.#beat().catch((error: Error) => this.failed(error));
  }

  async #beat(): Promise<void> {
    if (this.#isBeating || this.#state.is === "closed") return;
    this.#isBeating = true;
    const term = this.#term;
    try {
      await this.#ask(term);
    } catch (error) {
      // A loss is already reported.
      if (term !== this.#term) return;
      // Redis answers, but refuses the heartbeat: other gateways may miss invalidations as well.
      if (error instanceof ErrorReply) this.lose(error.message);
      this.failed(error as Error);
    } finally {
      this.#isBeating = false;
    }
  }

  async #ask(term: Term): Promise<void> {
    const { isListening, ask, flush, onEvent } = this.#settings;
    const sentAt = performance.now();
    if (!isListening()) return;
    const known = [this.#arrived, this.#confirmed].filter((epoch) => epoch !== undefined);
    const isFirst = !term.hasBegun;
    const heartbeat = await ask(isFirst ? known : []);
    if (term !== this.#term) return;
    const result = term.answered(sentAt, heartbeat.epoch);
    if (result === "late") return this.lose("a heartbeat came late");
    if (result === "missed") return this.miss("an invalidation was missed");
    if (isFirst) this.#onFirstAnswer(heartbeat);
    this.#others.listed(heartbeat.others, this.#state.is === "held");
    await flush();
    if (this.#state.is === "held" || term !== this.#term || !(await this.#hasCaughtUp())) return;
    // After another loss everything starts over.
    if (term !== this.#term) return;
    this.#state = { is: "held" };
    this.#others.stopWaiting();
    this.#errors.clear();
    onEvent("shared_tier_up", {});
  }

  /** Redis's first answer since the start or a loss. */
  #onFirstAnswer({ epoch, unknown }: Heartbeat): void {
    const { distrust, waitForOthers = WAIT_FOR_OTHERS_MS } = this.#settings;
    const isNew = this.#state.is === "starting";
    if (isNew || epoch === undefined || epoch !== this.#arrived) distrust();
    if (unknown.length > 0) this.#unknownEpochs = unknown;
    if (isNew) return;
    this.#others.awaitAll();
    this.#state = { is: "returning", othersBackAt: performance.now() + waitForOthers };
  }

  /** True if this gateway may trust its cache again: it has waited for the invalidations of the others. */
  async #hasCaughtUp(): Promise<boolean> {
    if (this.#unknownEpochs.length > 0) await this.#discardAll();
    this.#settings.callOthers();
    if (this.#state.is !== "returning") return true;
    if (performance.now() < this.#state.othersBackAt) return false;
    // Invalidations of a gateway that does not come back may be lost.
    if (this.#others.areAwaited()) await this.#discardAll();
    return true;
  }

  /** Discards all cached entries, here and in Redis. */
  async #discardAll(): Promise<void> {
    this.#settings.distrust();
    await this.#settings.empty(this.#unknownEpochs);
    this.#unknownEpochs = [];
  }

  /** Gives the lease up, and opens new connections. */
  lose(why: string): void {
    this.#endTerm();
    if (this.#state.is !== "held") return;
    this.#state = { is: "lost" };
    this.#errors.clear();
    this.#settings.onEvent("shared_tier_lost", { why });
    // A connection that has failed once is not used again.
    this.#reconnect();
  }

  /** Gives the lease up as `lose` does, because an invalidation did not arrive. */
  miss(why: string): void {
    this.#settings.distrust();
    this.lose(why);
  }

  #reconnect(): void {
    this.#endTerm();
    this.#answeredAt = performance.now();
    this.#settings.renew();
  }

  #endTerm(): void {
    // Invalidations that arrive before Redis's first answer do not show whether any were missed before.
    if (this.#term.hasBegun) this.#arrived = this.#term.epoch ?? this.#arrived;
    this.#term = new Term();
    if (this.#state.is === "returning") this.#state = { is: "lost" };
  }

  /** This gateway has received an invalidation, which begins this epoch. */
  announced(epoch: string): void {
    this.#term.announced(epoch);
  }

  /** Redis has this gateway's invalidation, which begins this epoch. */
  confirmed(epoch: string): void {
    this.#confirmed = epoch;
  }

  /** Another gateway has called. True if, as far as this gateway knows, Redis holds no invalidated entries. */
  called(id: string): boolean {
    this.#others.called(id);
    return this.#term.hasBegun && this.#unknownEpochs.length === 0;
  }

  /** Another gateway has answered a call. */
  answered(id: string): void {
    this.#others.answered(id);
  }

  /** Reports an error; the same error once until the state changes. */
  failed({ message }: Error): void {
    if (this.#state.is === "closed" || this.#errors.has(message)) return;
    this.#errors.add(message);
    this.#settings.onEvent("shared_tier_error", { why: message });
  }

  close(): void {
    clearInterval(this.#beating);
    this.#endTerm();
    this.#state = { is: "closed" };
  }
}
