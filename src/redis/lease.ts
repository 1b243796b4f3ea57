/** Whether a gateway may trust what it keeps: it has heard from Redis a moment ago, and has missed no drop. */
export type Lease = {
  isHeld(): boolean;
  /** Redis has answered a beat that was sent at this time with this epoch; false where it was too late or a drop was missed. */
  beat(sentAt: number, epoch: string | undefined): boolean;
  /** A drop was heard of, and this is the epoch since. */
  heard(epoch: string): void;
  lose(): void;
  /** The last epoch heard of. */
  epoch(): string | undefined;
};

/** Milliseconds from a beat that was answered. */
const LEASE = 1500;

export const openLease = (now: () => number): Lease => {
  let until = -Infinity;
  let known: string | undefined;
  let suspect: string | undefined;
  return {
    isHeld: () => now() < until,
    epoch: () => known,
    heard(epoch) {
      known = epoch;
    },
    lose() {
      until = -Infinity;
      known = undefined;
      suspect = undefined;
    },
    beat(sentAt, epoch) {
      // Once run out, it is not taken up again as if nothing had been.
      if (until !== -Infinity && now() >= until) return false;
      known ??= epoch;
      // Its message may still be on the way; at the next beat it is not.
      const missed = epoch !== undefined && epoch !== known;
      if (missed && suspect === epoch) return false;
      suspect = missed ? epoch : undefined;
      until = sentAt + LEASE;
      return true;
    },
  };
};
