import { randomBytes } from "node:crypto";
import { z } from "zod";
import { hashOfKey, HIDDEN } from "../../src/operation/index.ts";
import type { Stores } from "../../libraries/stores/keyValueStore.ts";

/** The caller of requests without a key, or with a key that legacy has not accepted. */
export const ANONYMOUS = "nobody";
/**
 * The most entries with a key, with the same key, and without a key. Clients may invent keys and user agents: that
 * evicts no other key.
 */
const MAX_KEYED = 1500;
const MAX_OF_ONE_KEY = 20;
const MAX_UNKEYED = 500;

const FLUSH_MS = 30_000;
const STORED = "callers";

const entrySchema = z.strictObject({
  caller: z.string().max(100),
  agent: z.string().max(1000),
  path: z.string().max(10_000),
  count: z.int().min(1),
  first: z.number(),
  last: z.number(),
});
const recordSchema = z.strictObject({
  salt: z.string().regex(/^[0-9a-f]{64}$/),
  entries: z.array(entrySchema).max(MAX_KEYED + MAX_UNKEYED),
});

/** One caller of one path with one program. Times are milliseconds since the epoch. */
type CallerEntry = z.infer<typeof entrySchema>;
/** The stored record: the callers, and the secret that their hashes are made with. */
type CallersRecord = z.infer<typeof recordSchema>;

/**
 * Bounded counts, in the order of the latest requests. The caller that has been silent longest is evicted first.
 */
class CallerCounts {
  readonly entries = new Map<string, CallerEntry>();
  readonly #sizes = new Map<string, number>();
  /** The last entry: counting it again needs no new place, which would cost more than the counting. */
  #latest: CallerEntry | undefined;

  constructor(entries: readonly CallerEntry[] = []) {
    for (const entry of entries.toSorted((a, b) => a.last - b.last)) this.add({ ...entry });
  }

  has(caller: string): boolean {
    return this.#sizes.has(caller);
  }

  /** Adds the counts of `added` to the entry of its caller, or takes it as a new entry. */
  add(added: CallerEntry): void {
    const { caller, path, agent } = added;
    const latest = this.#latest;
    if (latest?.caller === caller && latest.path === path && latest.agent === agent) return addTo(latest, added);
    const id = `${caller} ${path} ${agent}`;
    const known = this.entries.get(id);
    if (known) {
      addTo(known, added);
      this.entries.delete(id);
    }
    this.#latest = known ?? added;
    this.entries.set(id, this.#latest);
    if (known) return;
    const size = (this.#sizes.get(caller) ?? 0) + 1;
    this.#sizes.set(caller, size);
    if (size > (caller === ANONYMOUS ? MAX_UNKEYED : MAX_OF_ONE_KEY)) this.#evict((who) => who === caller);
    else if (this.entries.size - (this.#sizes.get(ANONYMOUS) ?? 0) > MAX_KEYED) this.#evict((who) => who !== ANONYMOUS);
  }

  #evict(isOf: (caller: string) => boolean): void {
    for (const [id, { caller }] of this.entries) {
      if (!isOf(caller)) continue;
      const size = (this.#sizes.get(caller) ?? 0) - 1;
      if (size === 0) this.#sizes.delete(caller);
      else this.#sizes.set(caller, size);
      return void this.entries.delete(id);
    }
  }
}

const addTo = (known: CallerEntry, { count, first, last }: CallerEntry): void => {
  known.count += count;
  known.first = Math.min(known.first, first);
  known.last = last;
};

/** A request of the legacy interface. `isAccepted`: legacy has answered it, so it took the key. */
export type CallerRequest = { key: string | undefined; isAccepted: boolean; agent: string | undefined; path: string };

/**
 * One caller of the legacy interface, with one program and path. `caller`: the first characters of a salted hash, or a
 * fixed word for requests without a key. `path`: the deprecated path that it lies below, else the first three segments
 * below the legacy path, with ids as `{id}`. `first`, `last`: times of requests, ISO 8601.
 */
export type ClientView = Omit<CallerEntry, "first" | "last"> & { first: string; last: string };

/** The callers of the legacy interface: all, or those of paths below one path. */
export type ListClients = (below?: string) => readonly ClientView[];

/** Opens the stored callers. Counts that could not be stored are stored later. */
export const openCallers = async ({ open }: Pick<Stores, "open">) => {
  const store = await open<CallersRecord>({ feature: "clients", schema: () => recordSchema, isVital: true });
  let salt = randomBytes(32).toString("hex");
  let pending = new CallerCounts();
  let saving = new CallerCounts();

  const stored = (): readonly CallerEntry[] => store.get(STORED)?.entries ?? [];
  /** The hash of a key: enough characters to distinguish thousands of callers. */
  const hashOf = (key: string): string => {
    const inForce = store.get(STORED)?.salt ?? salt;
    // Another gateway stored its salt first: the counts made with ours are lost.
    if (inForce !== salt) [salt, pending] = [inForce, new CallerCounts()];
    return hashOfKey(key, salt).slice(0, 12);
  };
  const isListed = (caller: string): boolean =>
    pending.has(caller) || saving.has(caller) || stored().some((entry) => entry.caller === caller);
  const callerOf = (key: string, isAccepted: boolean): string => {
    const caller = hashOf(key);
    return isAccepted || isListed(caller) ? caller : ANONYMOUS;
  };

  const save = async (): Promise<void> => {
    if (pending.entries.size === 0) return;
    [saving, pending] = [pending, new CallerCounts()];
    const own = { salt, entries: [] };
    const add = (latest: CallersRecord = own): CallersRecord | undefined =>
      latest.salt === own.salt ? { salt: own.salt, entries: merged(latest.entries, saving) } : undefined;
    await store.update(STORED, add).catch(() => {
      pending = new CallerCounts(merged([...saving.entries.values()], pending));
    });
    saving = new CallerCounts();
  };
  let saved = Promise.resolve();
  const flush = (): Promise<void> => (saved = saved.then(save));
  const flushing = setInterval(() => void flush(), FLUSH_MS);
  flushing.unref();

  return {
    /** The caller with this key, as it is listed. */
    callerOf,
    count({ key, isAccepted, agent, path }: CallerRequest): void {
      const caller = key === undefined ? ANONYMOUS : callerOf(key, isAccepted);
      const now = Date.now();
      pending.add({ caller, agent: listedAgent(agent, key), path, count: 1, first: now, last: now });
    },
    /** All callers, by their latest requests, the newest first. */
    list: (): ClientView[] =>
      merged([...stored(), ...saving.entries.values()], pending)
        .toReversed()
        .map(({ first, last, ...rest }) => ({
          ...rest,
          first: new Date(first).toISOString(),
          last: new Date(last).toISOString(),
        })),
    /** Stores the counts since the last time. */
    async close(): Promise<void> {
      clearInterval(flushing);
      await flush();
    },
  };
};

const merged = (entries: readonly CallerEntry[], counts: CallerCounts): CallerEntry[] => [
  ...new CallerCounts([...entries, ...counts.entries.values()]).entries.values(),
];

const MAX_AGENT = 200;
const keyLike = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/gi;

/**
 * A user agent that can be listed: at most 200 characters, without control characters and keys. It runs for each
 * proxied request, for which `scrubAgent` takes too long.
 */
export const listedAgent = (agent = "", key = ""): string => {
  if (key !== "") return shownAgent(agent, key);
  if (agent !== last.agent) last = { agent, shown: shownAgent(agent, key) };
  return last.shown;
};

/** The last agent of a request without a key: programs repeat theirs. */
let last = { agent: "", shown: "" };

const shownAgent = (agent: string, key: string): string => {
  let shown = agent.replaceAll(/\p{Cc}/gu, "").replaceAll(keyLike, HIDDEN);
  if (key.length > 3 && shown.toLowerCase().includes(key.toLowerCase()))
    shown = shown.replaceAll(new RegExp(RegExp.escape(key), "gi"), HIDDEN);
  if (shown.length <= MAX_AGENT) return shown;
  // A copy: a slice would hold the whole header, of perhaps many kilobytes, in memory.
  return Buffer.from(shown.slice(0, MAX_AGENT), "utf16le").toString("utf16le");
};
