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
/** An answer may be older than the drops heard of meanwhile; not by so many. */
const REMEMBERED = 1000;

export const openLease = (now: () => number): Lease => {
  let until = -Infinity;
  let known: string | undefined;
  let suspect: string | undefined;
  const announced = new Set<string>();
  const announce = (epoch: string) => {
    announced.add(epoch);
    for (const oldest of announced) {
      if (announced.size <= REMEMBERED) break;
      announced.delete(oldest);
    }
  };
  return {
    isHeld: () => now() < until,
    epoch: () => known,
    heard(epoch) {
      known = epoch;
      announce(epoch);
    },
    lose() {
      until = -Infinity;
      known = undefined;
      suspect = undefined;
      announced.clear();
    },
    beat(sentAt, epoch) {
      const isFirst = until === -Infinity;
      // Once run out, it is not taken up again as if nothing had been.
      if (!isFirst && now() >= until) return false;
      // At the last beat its message may still have been on the way; now it is not, whatever the epoch is by now.
      if (suspect !== undefined && !announced.has(suspect)) return false;
      if (isFirst && epoch !== undefined) announce(epoch);
      known ??= epoch;
      suspect = epoch;
      until = sentAt + LEASE;
      return true;
    },
  };
};
