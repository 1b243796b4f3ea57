import { LRUCache } from "lru-cache";
import { monotonic } from "../../operation/index.ts";

type LoggedWrite = { sequence: number; until: number };

/** Bytes that a remembered group takes besides its name. */
const OVERHEAD = 200;

/**
 * Opens a log of the groups that were invalidated, in order, so that a read that began before a write does not bring
 * the old value back. Its size is bounded. Beyond the bound, the oldest writes count as writes to everything: answers
 * to reads that began before these writes are then not stored, even if the writes do not concern them.
 */
export const openInvalidationLog = ({
  now = monotonic.now,
  maxBytes = 2 * 1024 ** 2,
}: {
  now?: () => number;
  maxBytes?: number;
}) => {
  let sequence = 0;
  /** The latest `until` of all writes. */
  let lastUntil = 0;
  const lastEvicted: LoggedWrite = { sequence: 0, until: 0 };
  const applyEviction = (write: LoggedWrite): void => {
    lastEvicted.sequence = Math.max(lastEvicted.sequence, write.sequence);
    lastEvicted.until = Math.max(lastEvicted.until, write.until);
  };
  const writes = new LRUCache<string, LoggedWrite>({
    maxSize: Math.max(1, maxBytes),
    maxEntrySize: 1024,
    sizeCalculation: (_, group) => OVERHEAD + 2 * group.length,
    dispose: (write, _, reason) => void (reason === "evict" && applyEviction(write)),
  });
  const isSince = (write: LoggedWrite | undefined, mark: number, withHolds: boolean): boolean =>
    write !== undefined && (write.sequence > mark || (withHolds && write.until > now()));

  return {
    /** Taken before a read begins. */
    mark: (): number => sequence,
    /** Records a write to these groups. `until`: the time until which the write may still be going on. */
    write(groups: readonly string[], until = 0): void {
      sequence++;
      lastUntil = Math.max(lastUntil, until);
      for (const group of groups) {
        const write = { sequence, until: Math.max(until, writes.peek(group)?.until ?? 0) };
        writes.set(group, write);
        // The LRU refuses a group whose name is too long.
        if (writes.peek(group) !== write) applyEviction(write);
      }
    },
    /**
     * True if any of these groups was, or may have been, written since the mark. `withHolds`: also if a write from
     * before may still be going on.
     */
    written(groups: readonly string[], mark: number, withHolds = true): boolean {
      // The most frequent case: no write at all since the mark.
      if (mark === sequence && lastUntil <= now()) return false;
      if (isSince(lastEvicted, mark, withHolds)) return true;
      return groups.some((group) => isSince(writes.peek(group), mark, withHolds));
    },
  };
};
