import { LRUCache } from "lru-cache";
import { monotonic } from "../../operation/index.ts";
import type { Coding } from "./entry.ts";
import type { Entry } from "./entry.ts";
import { expiryOf } from "./policy.ts";

/** The entries in memory. */
export type Store = ReturnType<typeof openStore>;

/** Bytes of an entry besides its bodies, as measured: objects, places in the maps. */
const OVERHEAD = 1536;
const PER_GROUP = 160;

type CountedEntry = Pick<Entry, "body" | "groups"> & Partial<Pick<Entry, "coded" | "forms" | "owner">>;

const groupsOf = ({ groups, owner }: Pick<CountedEntry, "groups" | "owner">): readonly string[] =>
  owner === undefined ? groups : [...groups, owner];

/** The bytes that an entry counts: key, body, codings, groups, forms, and a constant. */
const sizeOf = (key: string, entry: CountedEntry): number => {
  let size = OVERHEAD + 2 * key.length + entry.body.length;
  for (const [name, form] of Object.entries(entry.forms ?? {})) size += sizeOf(name, { ...form, groups: [] });
  for (const bytes of Object.values(entry.coded ?? {})) size += bytes.length;
  for (const group of groupsOf(entry)) size += PER_GROUP + group.length;
  return size;
};

/** The share of the cache's bytes that one entry may take: 8 MiB by default. */
const ENTRY_SHARE = 1 / 8;

/** The bytes of the largest entry that a cache of `bytes` stores. */
export const maxEntryBytes = (bytes: number): number => Math.floor(bytes * ENTRY_SHARE);

/**
 * Opens a store of at most `bytes`, each entry at most `entryBytes`; with 0 bytes it stores nothing. Keys, headers and
 * every coding count. The least recently used entry is evicted.
 */
export const openStore = ({ bytes, entryBytes }: { bytes: number; entryBytes: number }, now = monotonic.now) => {
  const members = new Map<string, Set<string>>();
  let evicted = 0;
  const leaveGroups = (key: string, entry: Entry) => {
    for (const group of groupsOf(entry)) {
      const keys = members.get(group);
      keys?.delete(key);
      if (keys?.size === 0) members.delete(group);
    }
  };
  const entries = new LRUCache<string, Entry>({
    // lru-cache takes 0 for no bound; no entry is as small as 1 byte.
    maxSize: Math.max(1, bytes),
    maxEntrySize: Math.max(1, Math.min(entryBytes, bytes)),
    sizeCalculation: (entry, key) => sizeOf(key, entry),
    dispose(entry, key, reason) {
      leaveGroups(key, entry);
      if (reason === "evict") evicted++;
    },
  });
  const fits = (key: string, entry: CountedEntry): boolean => sizeOf(key, entry) <= entries.maxEntrySize;
  /** True if this very entry is still stored under the key, or is a form of the stored entry. */
  const holds = (key: string, entry: Entry): boolean => {
    const stored = entries.peek(key);
    return stored === entry || Object.values(stored?.forms ?? {}).includes(entry);
  };
  /** Stores an entry. False if it is too large; the previous entry is then deleted as well. */
  const set = (key: string, entry: Entry): boolean => {
    entries.set(key, entry);
    // lru-cache drops an entry that is too large, and deletes the previous entry with it.
    if (!holds(key, entry)) return false;
    for (const group of groupsOf(entry)) members.set(group, (members.get(group) ?? new Set()).add(key));
    return true;
  };
  /** Changes a stored entry or form, and counts its bytes. False if it is gone, or the entry would become too large. */
  const change = (key: string, entry: Entry, changes: Pick<Entry, "coded" | "forms">): boolean => {
    const stored = entries.peek(key);
    if (stored === undefined || !holds(key, entry)) return false;
    const { coded, forms } = entry;
    Object.assign(entry, changes);
    const hasRoom = fits(key, stored);
    if (!hasRoom) Object.assign(entry, { coded, forms });
    // lru-cache takes a new size only with another value.
    entries.delete(key);
    set(key, stored);
    return hasRoom;
  };
  return {
    /** An entry that has expired is deleted, and the result is `undefined`. */
    get(key: string): Entry | undefined {
      const entry = entries.get(key);
      if (entry === undefined || now() < expiryOf(entry)) return entry;
      entries.delete(key);
      return undefined;
    },
    set,
    holds,
    /** True if an entry is small enough to be stored. */
    fits,
    /** Adds a coding to a stored entry, or to a form of it. Drops it if there is no room. */
    setCoding: (key: string, entry: Entry, coding: Coding, content: Buffer): boolean =>
      change(key, entry, { coded: { ...entry.coded, [coding]: content }, forms: entry.forms }),
    /** Adds a form to a stored entry. False if there is no room. */
    setForm: (key: string, entry: Entry, name: string, form: Entry): boolean =>
      change(key, entry, { coded: entry.coded, forms: { ...entry.forms, [name]: form } }),
    delete: (key: string): void => void entries.delete(key),
    /** The keys and entries of these groups, or of an owner. */
    inGroups(groups: readonly string[]): [string, Entry][] {
      const keys = new Set(groups.flatMap((group) => [...(members.get(group) ?? [])]));
      return [...keys].flatMap((key) => {
        const entry = entries.peek(key);
        return entry ? [[key, entry] as [string, Entry]] : [];
      });
    },
    all: (): [string, Entry][] => [...entries.entries()],
    size: () => ({ bytes: entries.calculatedSize, entries: entries.size, evicted, entryBytes }),
  };
};
