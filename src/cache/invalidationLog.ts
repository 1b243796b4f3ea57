/** Which groups were invalidated when, so that a read that began before a write does not bring the old value back. */
export type InvalidationLog = {
  /** Taken before a read begins. */
  mark(): number;
  /** Records a write to these groups. `until`: the write may still be going on until then (ms since the epoch). */
  write(groups: readonly string[], until?: number): void;
  /** Whether any of these groups was, or may have been, written since the mark. */
  written(groups: readonly string[], mark: number): boolean;
  /** What it holds: groups one by one, whole kinds, and the bytes of the former. */
  size(): { groups: number; kinds: number; bytes: number };
};

/** `at`: when it was written, `until`: how long it may still be going on (both ms since the epoch). */
type Write = { sequence: number; at: number; until: number };

/** What the log is opened with; all bounds have defaults but the first. */
export type InvalidationLogSettings = {
  /** No read takes longer, in milliseconds: older writes are forgotten. */
  longest: number;
  now?: () => number;
  /** Groups remembered one by one, and the bytes they may take. */
  maxGroups?: number;
  maxBytes?: number;
};

/** What one remembered group costs beside its name, in bytes: an object and its place in a map. Measured. */
const OVERHEAD = 130;
/** Kinds remembered at most; a catalogue has a dozen. */
const MAX_KINDS = 1000;
/** Characters of a name that is remembered as such; a longer one stands for everything. */
const MAX_NAME = 300;

/** `dataset/61` -> `dataset`; a group without an id is its own kind. */
const kindOf = (group: string): string => {
  const end = group.indexOf("/");
  return end === -1 ? group : group.slice(0, end);
};

const costOf = (group: string): number => OVERHEAD + 2 * group.length;

/** The later of two writes, in every respect. */
const merged = (one: Write | undefined, other: Write): Write =>
  one === undefined
    ? other
    : {
        sequence: Math.max(one.sequence, other.sequence),
        at: Math.max(one.at, other.at),
        until: Math.max(one.until, other.until),
      };

/**
 * A log of bounded size. Past a bound the oldest writes become writes to everything of their kind, and the oldest kinds a write to everything: the
 * log then refuses to store more answers than it has to, never fewer.
 */
export const openInvalidationLog = ({
  longest,
  now = Date.now,
  maxGroups = 10_000,
  maxBytes = 2 * 1024 ** 2,
}: InvalidationLogSettings): InvalidationLog => {
  /** In the order of writing. */
  const writes = new Map<string, Write>();
  const kinds = new Map<string, Write>();
  let everything: Write | undefined;
  let bytes = 0;
  let sequence = 0;
  /** No write goes on for longer (ms since the epoch). */
  let lastUntil = 0;
  let cleanedAt = -Infinity;

  const forgetGroup = (group: string): void => {
    if (writes.delete(group)) bytes -= costOf(group);
  };
  const isOld = ({ at, until }: Write): boolean => at <= now() - longest && until < now();
  /** Now and then: a map that is emptied from its front at every write is slow to walk. */
  const discardOld = (): void => {
    if (Math.abs(now() - cleanedAt) < longest / 10) return;
    cleanedAt = now();
    for (const [group, write] of writes) {
      if (write.at > now() - longest) break;
      if (isOld(write)) forgetGroup(group);
    }
    for (const [kind, write] of kinds) if (isOld(write)) kinds.delete(kind);
    if (everything && isOld(everything)) everything = undefined;
  };
  /** A quarter at once, for the same reason. */
  const collapse = (): void => {
    const groups = Math.floor((maxGroups * 3) / 4);
    const left = Math.floor((maxBytes * 3) / 4);
    for (const [group, write] of writes) {
      if (writes.size <= groups && bytes <= left) break;
      forgetGroup(group);
      const kind = kindOf(group);
      kinds.set(kind, merged(kinds.get(kind), write));
    }
    for (const [kind, write] of kinds) {
      if (kinds.size <= MAX_KINDS) break;
      kinds.delete(kind);
      everything = merged(everything, write);
    }
  };
  const isSince = (write: Write | undefined, mark: number): boolean =>
    write !== undefined && (write.sequence > mark || write.until > now());

  return {
    mark: () => sequence,
    write(groups, until = 0) {
      discardOld();
      sequence++;
      lastUntil = Math.max(lastUntil, until);
      for (const group of groups) {
        const write = { sequence, at: now(), until: Math.max(until, writes.get(group)?.until ?? 0) };
        if (group.length > MAX_NAME) {
          everything = merged(everything, write);
          continue;
        }
        forgetGroup(group);
        writes.set(group, write);
        bytes += costOf(group);
        if (writes.size > maxGroups || bytes > maxBytes) collapse();
      }
    },
    size: () => ({ groups: writes.size, kinds: kinds.size, bytes }),
    written(groups, mark) {
      // The most frequent case: no write at all since the mark.
      if (mark === sequence && lastUntil <= now()) return false;
      return (
        isSince(everything, mark) ||
        groups.some((group) => isSince(writes.get(group), mark) || isSince(kinds.get(kindOf(group)), mark))
      );
    },
  };
};
