import { hash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ClientView } from "./console/retirementConsole.ts";
import { keyOf, type Seen } from "./keyOf.ts";
import { plainAgent } from "./plainAgent.ts";

/** The callers of legacy paths. At most 2000 are stored; those without requests for the longest time are evicted first. */
type Usage = {
  note: (path: string, seen: Seen) => void;
  /** The callers, the one with the latest request first. */
  list: () => ClientView[];
};

const MAX_CALLERS = 2000;
/** Characters of a caller's hash: enough to distinguish thousands of callers. */
const SHOWN_CHARS = 12;

type Entry = { caller: string; agent: string; path: string; count: number; first: number; last: number };

/** A copy: a slice would hold the whole header, of perhaps many kilobytes, in memory. */
const copied = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le");

/** Opens an empty list. `now` gives milliseconds since the epoch. */
export const openUsage = (now: () => number): Usage => {
  // Random and secret: without it, keys cannot be tested against the shown hashes.
  const salt = randomBytes(32).toString("hex");
  const entries = new LRUCache<string, Entry>({ max: MAX_CALLERS });
  const callerOf = (key: string | undefined): string =>
    key === undefined ? "nobody" : hash("sha256", salt + key, "base64url").slice(0, SHOWN_CHARS);
  return {
    note(path, seen) {
      const key = keyOf(seen);
      const caller = callerOf(key);
      const agent = plainAgent(seen.headers["user-agent"], key);
      const at = now();
      const id = `${caller} ${path} ${agent}`;
      const entry = entries.get(id);
      if (entry === undefined)
        entries.set(id, { caller, agent: copied(agent), path: copied(path), count: 1, first: at, last: at });
      else {
        entry.count++;
        entry.last = at;
      }
    },
    list: () =>
      [...entries.values()]
        .toSorted((a, b) => b.last - a.last)
        .map(({ first, last, ...rest }) => ({
          ...rest,
          first: new Date(first).toISOString(),
          last: new Date(last).toISOString(),
        })),
  };
};
