import { ErrorReply } from "@redis/client";

/** The events of the shared tier. */
export type SharedTierEvent = "shared_tier_up" | "shared_tier_lost" | "shared_tier_error";

/** What a lease is opened with. */
type ReplicationLeaseSettings = {
  isListening: () => boolean;
  /** Requests the epoch from Redis. */
  ask: () => Promise<string | undefined>;
  /** Sends the pending invalidations. */
  flush: () => Promise<void>;
  /** Discards entries that may be out of date, before the lease is held. */
  recover: (isFirst: boolean) => Promise<void>;
  /** Makes new connections. */
  renew: () => void;
  onEvent: (event: SharedTierEvent, about: Record<string, unknown>) => void;
};

/** Milliseconds between two heartbeats. */
const INTERVAL = 300;
/** Milliseconds without the lease until new connections are opened. */
const PATIENCE = 3000;

/**
 * The lease is held while this gateway may trust its cached entries: Redis has answered a moment ago, and no invalidation was missed. Every
 * invalidation begins an epoch. If Redis answers with an epoch that was not announced to this gateway, it has missed an invalidation. A Redis that refuses the heartbeat is lost at once.
 */
export const openReplicationLease = (settings: ReplicationLeaseSettings) => {
  const { isListening, ask, flush, recover, renew, onEvent } = settings;
  const term = openTerm(() => performance.now());
  let state: "new" | "up" | "lost" = "new";
  let isBeating = false;
  let isClosed = false;
  /** When the lease was held last, or the connections were opened. */
  let heldAt = performance.now();
  /** The number of losses: answers to requests from before a loss are ignored. */
  let losses = 0;

  const errors = new Set<string>();
  /** Reports an error; the same error once until the state changes. */
  const failed = ({ message }: Error): void => {
    if (isClosed || errors.has(message)) return;
    errors.add(message);
    onEvent("shared_tier_error", { why: message });
  };
  const drop = () => {
    term.end();
    losses++;
  };
  const reconnect = () => {
    drop();
    heldAt = performance.now();
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
  const isHeld = () => state === "up" && term.isRunning() && isListening();

  const askOnce = async (): Promise<void> => {
    const sentAt = performance.now();
    const before = losses;
    if (!isListening()) return;
    const epoch = await ask();
    if (losses !== before) return;
    if (!term.answered(sentAt, epoch)) return lose("a beat came late, or a drop was missed");
    if (state === "up") return flush();
    await recover(state === "new");
    await flush();
    // After another loss the recovery starts again.
    if (isClosed || losses !== before) return;
    state = "up";
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
      // Redis answers, but does not do what it is asked: others may miss invalidations as well.
      if (error instanceof ErrorReply) lose(error.message);
      failed(error as Error);
    } finally {
      isBeating = false;
    }
  };
  const beating = setInterval(() => {
    if (state === "up" && !term.isRunning()) lose("it did not answer in time");
    if (isHeld()) heldAt = performance.now();
    else if (performance.now() - heldAt > PATIENCE) reconnect();
    beat().catch(failed);
  }, INTERVAL).unref();

  return {
    isHeld,
    epoch: term.epoch,
    /** An invalidation was received, which begins this epoch. */
    announced: (epoch: string) => term.announced(epoch),
    lose,
    /** Sends a heartbeat at once. */
    beat: () => void beat().catch(failed),
    failed,
    close(): void {
      isClosed = true;
      clearInterval(beating);
    },
  };
};

/** Milliseconds that the lease lasts, from when the heartbeat was sent. */
const TERM = 1500;
/** Invalidations that may be received between a heartbeat and its answer. */
const MAX_ANNOUNCED = 1000;

/** The term of the lease, and the epochs that were announced in it. It begins with the first answer. `now` gives milliseconds. */
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
    /** Redis has answered a heartbeat with this epoch; false if it was too late or an invalidation was missed. */
    answered(sentAt: number, epoch: string | undefined): boolean {
      const isFirst = until === -Infinity;
      // An expired term is not renewed: invalidations may have been missed.
      if (!isFirst && now() >= until) return false;
      // The message of the last answer's epoch may have been on the way then. By now it must have arrived.
      if (suspect !== undefined && !announced.has(suspect)) return false;
      if (isFirst && epoch !== undefined) announce(epoch);
      known ??= epoch;
      suspect = epoch;
      until = sentAt + TERM;
      return true;
    },
  };
};
