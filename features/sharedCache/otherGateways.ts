/** Heartbeats in a row without a gateway after which it is no longer awaited: 4.5 seconds. */
const MAX_ABSENCES = 15;

/**
 * Opens the list of the other gateways on this Redis. After a gap, each gateway that was listed before is awaited: it
 * may have invalidations to send.
 */
export const openOtherGateways = () => {
  /** The heartbeats in a row in which each was absent. */
  const absences = new Map<string, number>();
  const awaited = new Set<string>();
  return {
    /** Redis has listed those that listen to it. `isSettled`: no gap keeps any of them away. */
    listed(ids: readonly string[], isSettled: boolean): void {
      for (const id of ids) absences.set(id, 0);
      if (!isSettled) return;
      for (const [id, count] of absences) {
        if (ids.includes(id)) continue;
        if (count < MAX_ABSENCES) absences.set(id, count + 1);
        else absences.delete(id);
      }
    },
    /** This gateway has called, so it is there. */
    called: (id: string): void => void absences.set(id, 0),
    /** Awaits all of them from now on. */
    awaitAll(): void {
      for (const id of absences.keys()) awaited.add(id);
    },
    /** This gateway has nothing to send. */
    answered: (id: string): void => void awaited.delete(id),
    areAwaited: (): boolean => awaited.size > 0,
    stopWaiting: (): void => awaited.clear(),
  };
};
