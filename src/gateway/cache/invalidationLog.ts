import { LRUCache } from "lru-cache";
import { monotonic } from "../../operation/index.ts";

type LoggedWrite = { sequence: number; until: number };

/** What one remembered group costs beside its name, in bytes. */
const OVERHEAD = 200;

/**
 * Opens a log of which groups were invalidated when, so that a read that began before a write does not bring the old
 * value back. Its size is bounded. Past its bound the oldest writes count as writes to everything: the log then refuses
 * to store more answers than it has to, never fewer. That concerns reads that began before these writes.
 */
export const openInvalidationLog = ({
  now = monotonic.now,
  maxBytes = 2 * 1024 ** 2,
}: {
  now?: () => number;
  maxBytes?: number;
}) => {
  let sequence = 0;
  /** No write goes on for longer. */
  let lastUntil = 0;
  const forgotten: LoggedWrite = { sequence: 0, until: 0 };
  const forget = (write: LoggedWrite): void => {
    forgotten.sequence = Math.max(forgotten.sequence, write.sequence);
    forgotten.until = Math.max(forgotten.until, write.until);
  };
  const writes = new LRUCache<string, LoggedWrite>({
    maxSize: Math.max(1, maxBytes),
    maxEntrySize: 1024,
    sizeCalculation: (_, group) => OVERHEAD + 2 * group.length,
    dispose: (write, _, reason) => void (reason === "evict" && forget(write)),
  });
  const isSince = (write: LoggedWrite | undefined, mark: number): boolean =>
    write !== undefined && (write.sequence > mark || write.until > now());

  return {
    /** Taken before a read begins. */
    mark: (): number => sequence,
    /** Records a write to these groups. `until`: the write may still be going on until then. */
    write(groups: readonly string[], until = 0): void {
      sequence++;
      lastUntil = Math.max(lastUntil, until);
      for (const group of groups) {
        const write = { sequence, until: Math.max(until, writes.peek(group)?.until ?? 0) };
        writes.set(group, write);
        // Its name is too long.
        if (writes.peek(group) !== write) forget(write);
      }
    },
    /** Whether any of these groups was, or may have been, written since the mark. */
    written(groups: readonly string[], mark: number): boolean {
      // The most frequent case: no write at all since the mark.
      if (mark === sequence && lastUntil <= now()) return false;
      return isSince(forgotten, mark) || groups.some((group) => isSince(writes.peek(group), mark));
    },
  };
};
