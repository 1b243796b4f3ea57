import { hash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ClientView } from "./console/retirementConsole.ts";
import { type CallerEntry, MAX_CALLERS, memoryClients, NOBODY, type StoredClients } from "./clientStore.ts";
import { keyOf, type Seen } from "./keyOf.ts";
import { plainAgent } from "./plainAgent.ts";

/** The callers of legacy paths. At most 1500 with a key and 500 without are stored; the longest silent are evicted first. */
type Usage = {
  note: (path: string, seen: Seen) => void;
  /** The callers, the one with the latest request first. */
  list: () => ClientView[];
  /** Stores what was counted since the last time. */
  close: () => Promise<void>;
};

/** Characters of a caller's hash: enough to distinguish thousands of callers. */
const SHOWN_CHARS = 12;

/** A copy: a slice would hold the whole header, of perhaps many kilobytes, in memory. */
const copied = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le");

/**
 * Opens the list over what is stored. `now` gives milliseconds since the epoch.
 * @param salt random and secret: without it, keys cannot be tested against the shown hashes.
 * @param openClients gets a function that takes what was counted since its last call.
 */
export const openUsage = (
  now: () => number,
  salt = randomBytes(32).toString("hex"),
  openClients: (take: () => CallerEntry[]) => StoredClients = memoryClients,
): Usage => {
  const keyed = new LRUCache<string, CallerEntry>({ max: MAX_CALLERS.keyed });
  const anonymous = new LRUCache<string, CallerEntry>({ max: MAX_CALLERS.anonymous });
  const entriesOf = (caller: string) => (caller === NOBODY ? anonymous : keyed);
  const callerOf = (key: string | undefined): string =>
    key === undefined ? NOBODY : hash("sha256", salt + key, "base64url").slice(0, SHOWN_CHARS);
  const take = (): CallerEntry[] => {
    // From the one without requests for the longest time on, so that the same ones are evicted.
    const taken = [keyed, anonymous].flatMap((entries) => entries.dump().map(([, { value }]) => value));
    keyed.clear();
    anonymous.clear();
    return taken;
  };
  const clients = openClients(take);
  return {
    close: () => clients.close(),
    note(path, seen) {
      const key = keyOf(seen);
      const caller = callerOf(key);
      const agent = plainAgent(seen.headers["user-agent"], key);
      const at = now();
      const id = `${caller} ${path} ${agent}`;
      const entries = entriesOf(caller);
      const entry = entries.get(id);
      if (entry === undefined)
        entries.set(id, { caller, agent: copied(agent), path: copied(path), count: 1, first: at, last: at });
      else {
        entry.count++;
        entry.last = at;
      }
    },
    list: () =>
      clients
        .list()
        .toSorted((a, b) => b.last - a.last)
        .slice(0, MAX_CALLERS.keyed + MAX_CALLERS.anonymous)
        .map(({ first, last, ...rest }) => ({
          ...rest,
          first: new Date(first).toISOString(),
          last: new Date(last).toISOString(),
        })),
  };
};
