import { ErrorReply } from "@redis/client";
import { openOtherGateways } from "./otherGateways.ts";

/** The events of the shared tier. */
export type SharedTierEvent = "shared_tier_up" | "shared_tier_lost" | "shared_tier_error" | "redis_key_set_aside";

/** The answer of Redis to a heartbeat. */
type Heartbeat = {
  /** `undefined` if Redis is full. */
  epoch: string | undefined;
  /** The epochs in the request that Redis does not know. */
  unknown: readonly string[];
  /** The ids of the other gateways that listen. */
  others: readonly string[];
};

/** The settings of a lease. */
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

/** Milliseconds between two heartbeats. */
const INTERVAL = 300;
/** Milliseconds that the lease lasts, from when the heartbeat was sent. */
export const LEASE_MS = 1500;
/** Milliseconds without an answer until new connections are opened. */
const RECONNECT_AFTER_MS = 3000;

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
export const openReplicationLease = (settings: ReplicationLeaseSettings) => {
  const { isListening, ask, flush, callOthers, distrust, empty, renew, onEvent } = settings;
  // Another gateway loses Redis at most a term later, and then opens new connections in this time.
  const { waitForOthers = LEASE_MS + RECONNECT_AFTER_MS } = settings;
  const term = openTerm(() => performance.now());
  const others = openOtherGateways();
  let state: "new" | "up" | "lost" = "new";
  let isBeating = false;
  let isClosed = false;
  /** When Redis answered last, or when the connections were opened. */
  let answeredAt = performance.now();
  /** The number of losses: answers to requests from before a loss are ignored. */
  let losses = 0;
  /** Redis has answered since the last loss: from its answer on, every invalidation arrives. */
  let isConnected = false;
  /** The last epoch that arrived before the last loss, and this gateway's last epoch that Redis has confirmed. */
  let arrived: string | undefined;
  let confirmed: string | undefined;
  /** While there are any, Redis may hold entries that were invalidated. */
  let unknownEpochs: readonly string[] = [];
  /** When gateways in the same gap have sent their pending invalidations. */
  let othersBackAt = 0;

  const errors = new Set<string>();
  /** Reports an error; the same error once until the state changes. */
  const failed = ({ message }: Error): void => {
    if (isClosed || errors.has(message)) return;
    errors.add(message);
    onEvent("shared_tier_error", { why: message });
  };
  const drop = () => {
    // Invalidations that arrive before Redis's first answer do not show whether any were missed before.
    if (isConnected) arrived = term.epoch() ?? arrived;
    isConnected = false;
    term.end();
    losses++;
  };
  const reconnect = () => {
    drop();
    answeredAt = performance.now();
    renew();
  };
  /** Gives the lease up, and opens new connections. */
  const lose = (why: string): void => {
    drop();
    if (isClosed || state !== "up") return;
    state = "lost";
    errors.clear();
    onEvent("shared_tier_lost", { why });
    // A connection that has failed once is not used again.
    reconnect();
  };
  /** Gives the lease up as `lose` does, because an invalidation did not arrive. */
  const miss = (why: string): void => {
    distrust();
    lose(why);
  };
  const isHeld = () => state === "up" && term.isRunning() && isListening();

  /** Redis's first answer after a loss. */
  const connect = ({ epoch, unknown }: Heartbeat): void => {
    isConnected = true;
    if (state === "new" || epoch === undefined || epoch !== arrived) distrust();
    if (unknown.length > 0) unknownEpochs = unknown;
    if (state === "new") return;
    others.awaitAll();
    othersBackAt = performance.now() + waitForOthers;
  };
  /** Discards all cached entries, here and in Redis. */
  const reset = async (): Promise<void> => {
    distrust();
    await empty(unknownEpochs);
    unknownEpochs = [];
  };
  /** True if this gateway may trust its cache again: it has waited for the invalidations of the others. */
  const isComplete = async (): Promise<boolean> => {
    if (unknownEpochs.length > 0) await reset();
    callOthers();
    if (state === "new") return true;
    if (performance.now() < othersBackAt) return false;
    // Invalidations of a gateway that does not come back may be lost.
    if (others.areAwaited()) await reset();
    return true;
  };
  const askOnce = async (): Promise<void> => {
    const sentAt = performance.now();
    const before = losses;
    if (!isListening()) return;
    const known = [arrived, confirmed].filter((epoch) => epoch !== undefined);
    const heartbeat = await ask(isConnected ? [] : known);
    if (losses !== before) return;
    const result = term.answered(sentAt, heartbeat.epoch);
    if (result === "late") return lose("a heartbeat came late");
    if (result === "missed") return miss("an invalidation was missed");
    if (!isConnected) connect(heartbeat);
    others.listed(heartbeat.others, state === "up");
    await flush();
    if (state === "up" || losses !== before || !(await isComplete())) return;
    // After another loss everything starts over.
    if (isClosed || losses !== before) return;
    state = "up";
    others.stopWaiting();
    errors.clear();
    onEvent("shared_tier_up", {});
  };
  /** Sends a heartbeat, unless one is under way. */
  const beat = async (): Promise<void> => {
    if (isBeating || isClosed) return;
    isBeating = true;
    const before = losses;
    try {
      await askOnce();
    } catch (error) {
      // A loss is already reported.
      if (losses !== before) return;
      // Redis answers, but refuses the heartbeat: other gateways may miss invalidations as well.
      if (error instanceof ErrorReply) lose(error.message);
      failed(error as Error);
    } finally {
      isBeating = false;
    }
  };
  const beating = setInterval(() => {
    if (state === "up" && !isHeld()) lose("it did not answer in time");
    if (term.isRunning() && isListening()) answeredAt = performance.now();
    else if (performance.now() - answeredAt > RECONNECT_AFTER_MS) reconnect();
    beat().catch(failed);
  }, INTERVAL).unref();

  return {
    isHeld,
    epoch: term.epoch,
    /** This gateway has received an invalidation, which begins this epoch. */
    announced: (epoch: string) => term.announced(epoch),
    /** Redis has this gateway's invalidation, which begins this epoch. */
    confirmed: (epoch: string): void => void (confirmed = epoch),
    /**
     * Another gateway has called. True if, as far as this gateway knows, Redis holds no invalidated entries.
     */
    called(id: string): boolean {
      others.called(id);
      return isConnected && unknownEpochs.length === 0;
    },
    /** Another gateway has answered a call. */
    answered: others.answered,
    lose,
    miss,
    /** Sends a heartbeat at once. */
    beat: () => void beat().catch(failed),
    failed,
    close(): void {
      isClosed = true;
      clearInterval(beating);
    },
  };
};

/** Invalidations that may be received between a heartbeat and its answer. */
const MAX_ANNOUNCED = 1000;

/**
 * The term of the lease, and the epochs that were announced in it. It begins with the first answer.
 * `now` gives milliseconds.
 */
export const openTerm = (now: () => number) => {
  let until = -Infinity;
  let known: string | undefined;
  let suspect: string | undefined;
  const announced = new Set<string>();
  const announce = (epoch: string) => {
    announced.add(epoch);
    for (const oldest of announced) {
      if (announced.size <= MAX_ANNOUNCED) break;
      announced.delete(oldest);
    }
  };
  return {
    isRunning: () => now() < until,
    /** The last epoch that was announced. */
    epoch: () => known,
    announced(epoch: string): void {
      known = epoch;
      announce(epoch);
    },
    end(): void {
      until = -Infinity;
      known = undefined;
      suspect = undefined;
      announced.clear();
    },
    /** Redis has answered a heartbeat with this epoch: too late, or in time, or an invalidation was missed before. */
    answered(sentAt: number, epoch: string | undefined): "in time" | "late" | "missed" {
      const isFirst = until === -Infinity;
      // The message of the last answer's epoch may have been on the way then. By now it must have arrived.
      if (suspect !== undefined && !announced.has(suspect)) return "missed";
      // An expired term is not renewed: invalidations may have been missed.
      if (!isFirst && now() >= until) return "late";
      if (isFirst && epoch !== undefined) announce(epoch);
      known ??= epoch;
      suspect = epoch;
      until = sentAt + LEASE_MS;
      return "in time";
    },
  };
};
