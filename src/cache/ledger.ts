/** What was written when, so that a read that was on its way meanwhile does not bring the old value back. */
export type Ledger = {
  /** Taken before a read begins. */
  mark(): number;
  /** These groups were written. `until`: their last write may still be going on until then (ms since the epoch). */
  write(groups: readonly string[], until?: number): void;
  /** Whether any of these was written since the mark. */
  written(groups: readonly string[], mark: number): boolean;
};

type Write = { sequence: number; at: number; until: number };

/** `longest`: no read takes longer than this, in milliseconds; older writes are forgotten. */
export const openLedger = (longest: number, now: () => number = Date.now): Ledger => {
  const writes = new Map<string, Write>();
  let sequence = 0;
  const forget = () => {
    const old = now() - longest;
    for (const [group, { at, until }] of writes) {
      // In order of writing.
      if (at > old) return;
      if (until < now()) writes.delete(group);
    }
  };
  return {
    mark: () => sequence,
    write(groups, until = 0) {
      forget();
      sequence++;
      for (const group of groups) {
        const before = writes.get(group);
        writes.delete(group);
        writes.set(group, { sequence, at: now(), until: Math.max(until, before?.until ?? 0) });
      }
    },
    written: (groups, mark) =>
      groups.some((group) => {
        const write = writes.get(group);
        return write !== undefined && (write.sequence > mark || write.until > now());
      }),
  };
};
