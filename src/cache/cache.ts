import { LRUCache } from "lru-cache";
import { ownKey } from "./cacheKey.ts";
import type { How } from "./cacheStatus.ts";
import type { Directives } from "./directives.ts";
import { backOff, type Entry, entryOf, judge, type Verdict } from "./entry.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { type Answered, HIT } from "./reply.ts";
import { plainly, represent, type Told } from "./representation.ts";
import type { Drop, OpenSharedTier, SharedTier } from "./sharedTier.ts";
import type { Store } from "./store.ts";
import type { WindowsOf } from "./windows.ts";

/** What is asked, as the cache sees it. */
export type Question = {
  /** Of the question itself, whoever asks. */
  key: string;
  endpoint: string;
  windowsOf: WindowsOf;
  /** A caller with a key may be shown more: nothing of nobody's is for it. */
  personal: boolean;
};

/** Asked by whom: nobody, or the owner of a key (hashed). */
export type Asking = { question: Question; owner: string | undefined; wanted: Directives };

/** An answer fresh from legacy, and the groups it belongs to. */
export type Filled = { answer: Told; groups: readonly string[] };

/** Asks legacy, as the owner or (`undefined`) as nobody. `background`: no client waits for it. */
export type Fill = (owner: string | undefined, background: boolean) => Promise<Filled>;

/** What the cache counts; names are the field's own. */
export type CacheCount = (
  what: "refreshed" | "refresh_failed" | "coalesced" | "dropped" | "not_stored" | "late_store",
  endpoint: string,
) => void;

export type Cache = {
  /** The entry that answers at once, without waiting for anything; for those who hold a proven key or none. */
  ready(asking: Asking, now: number): Entry | undefined;
  /** `admit` is asked before something kept is served; what it gives is answered instead. */
  answer(asking: Asking, fill: Fill, admit: () => Promise<Told | undefined>): Promise<Answered>;
  /** Serves these no more: here at once, in every other gateway when it comes back. */
  drop(drop: Drop): Promise<void> | undefined;
  /** Everything this owner fetched. */
  dropOwner(owner: string): void;
  size: Store["size"];
  /** Whether it knows of all that other gateways drop; undefined where it shares with none. */
  sharing(): "in step" | "cut off" | undefined;
  close(): Promise<void>;
};

export type CacheSettings = {
  store: Store;
  /** No request to legacy takes longer, in milliseconds. */
  longest: number;
  openTier?: OpenSharedTier | undefined;
  count: CacheCount;
  /** What a refresh that nobody waits for threw. */
  onError: (error: unknown) => void;
  now?: () => number;
};

/** For so long callers of what could not be kept do not wait for one another, in milliseconds. */
const PASS = 5000;
const EVERYTHING = "*";

type Flight = Promise<{ answered: Answered; entry?: Entry }>;
type Found = { entry: Entry; verdict: Verdict };

export const openCache = ({ store, longest, openTier, count, onError, now = Date.now }: CacheSettings): Cache => {
  const ledger: Ledger = openLedger(2 * longest, now);
  const flights = new Map<string, Flight>();
  const lookups = new Map<string, Promise<Entry | undefined>>();
  const passing = new LRUCache<string, true>({ max: 10_000, ttl: PASS });

  const dropHere = ({ groups = [], endpoint, all, soft = false, hold = 0 }: Drop): void => {
    // Whoever comes from now on must not join a request that was on its way before.
    flights.clear();
    lookups.clear();
    if (!soft)
      ledger.write(all ? [EVERYTHING] : [...groups, ...(endpoint === undefined ? [] : [`@${endpoint}`])], now() + hold);
    const concerned = store.inGroups(groups);
    if (all || endpoint !== undefined)
      concerned.push(...store.all().filter(([, entry]) => all || entry.endpoint === endpoint));
    for (const [key, entry] of concerned) {
      count("dropped", entry.endpoint);
      if (!soft) store.delete(key);
      else {
        entry.freshUntil = Math.min(entry.freshUntil, now());
        delete entry.rendered;
      }
    }
  };
  const tier: SharedTier | undefined = openTier?.({
    onDrop: (drop) => dropHere(drop),
    onLost: () => dropHere({ all: true }),
  });

  const keyFor = ({ question }: Asking, owner: string | undefined): string =>
    owner === undefined ? question.key : ownKey(question.key, owner);

  /** The places to look, in order: the owner's own, then what everybody may see. */
  const places = (asking: Asking): string[] => {
    const { owner, question } = asking;
    if (owner === undefined) return [question.key];
    const own = keyFor(asking, owner);
    return question.personal ? [own] : [own, question.key];
  };

  /** Where others may have written unheard, what is kept has to be asked for anew. */
  const verdictOn = (entry: Entry, wanted: Directives, at: number): Verdict => {
    const verdict = judge(entry, at, wanted);
    return tier !== undefined && !tier.trusted() && verdict !== "not" ? "ifError" : verdict;
  };

  /** What everybody may see is only a public answer; a "not found" may be another one for a caller with a key. */
  const isFor = (asking: Asking, entry: Entry): boolean =>
    asking.owner === undefined || entry.owner !== undefined || entry.status === 200;

  const worth: Record<Verdict, number> = { fresh: 3, stale: 2, ifError: 1, not: 0 };
  const better = (best: Found | undefined, asking: Asking, entry: Entry | undefined, at: number): Found | undefined => {
    if (entry === undefined || !isFor(asking, entry)) return best;
    const verdict = verdictOn(entry, asking.wanted, at);
    return best && worth[best.verdict] >= worth[verdict] ? best : { entry, verdict };
  };

  const fromTier = (key: string): Promise<Entry | undefined> => {
    const looking = lookups.get(key);
    if (looking) return looking;
    const mark = ledger.mark();
    const lookup = (tier as SharedTier).get(key).then((entry) => {
      if (lookups.get(key) === lookup) lookups.delete(key);
      if (entry === undefined || wasWritten(entry, mark)) return undefined;
      store.set(key, entry);
      return entry;
    });
    lookups.set(key, lookup);
    return lookup;
  };

  const find = async (asking: Asking): Promise<Found | undefined> => {
    let best: Found | undefined;
    for (const key of places(asking)) best = better(best, asking, store.get(key), now());
    // Only what everybody may see is in the tier.
    if (best?.verdict === "fresh" || !tier?.trusted() || (asking.owner !== undefined && asking.question.personal))
      return best;
    return better(best, asking, await fromTier(asking.question.key), now());
  };

  const wasWritten = ({ groups, endpoint }: Pick<Entry, "groups" | "endpoint">, mark: number): boolean =>
    ledger.written([...groups, `@${endpoint}`, EVERYTHING], mark);

  /** Asks legacy, and keeps the answer where it may be kept. */
  const ask = async (asking: Asking, owner: string | undefined, fill: Fill, how: How, background = false): Flight => {
    const { endpoint, windowsOf } = asking.question;
    const key = keyFor(asking, owner);
    const mark = ledger.mark();
    const tierMark = tier?.mark();
    const { answer, groups } = await fill(owner, background);
    const windows = windowsOf(answer.status);
    if (windows === undefined) {
      passing.set(key, true);
      return { answered: { representation: plainly(answer), cacheable: true, how } };
    }
    const storedAt = now();
    const representation = await represent(answer);
    const entry = entryOf(representation, {
      endpoint,
      groups,
      windows,
      storedAt,
      ...(owner === undefined ? {} : { owner }),
    });
    passing.delete(key);
    if (asking.wanted.noStore) return { answered: { entry, how }, entry };
    if (wasWritten(entry, mark)) {
      count("late_store", endpoint);
      return { answered: { entry, how }, entry };
    }
    const stored = store.set(key, entry);
    if (!stored) count("not_stored", endpoint);
    if (owner === undefined) tier?.set(key, entry, tierMark);
    return { answered: { entry, how: { ...how, stored } }, entry };
  };

  /** One request to legacy for all who ask the same at the same time; an answer that is not kept is for one alone. */
  const askOnce = async (asking: Asking, fill: Fill, how: How): Promise<Answered> => {
    const { owner, question, wanted } = asking;
    const key = keyFor(asking, owner);
    const alone = () => ask(asking, owner, fill, how).then(({ answered }) => answered);
    if (passing.has(key) || wanted.noStore) return alone();
    const flying = flights.get(key);
    if (flying === undefined) return (await launch(key, ask(asking, owner, fill, how))).answered;
    count("coalesced", question.endpoint);
    // Whatever befell the one before is its own; what it could not keep says nothing to us.
    const { entry } = await flying.catch(() => ({ entry: undefined }));
    return entry === undefined ? alone() : { entry, how: { ...how, collapsed: true } };
  };

  const launch = async (key: string, flight: Flight): Flight => {
    flights.set(key, flight);
    try {
      return await flight;
    } finally {
      if (flights.get(key) === flight) flights.delete(key);
    }
  };

  /** Asks for a kept answer anew while it is still being served. */
  const refresh = async (asking: Asking, { owner, failures, retryAt, endpoint }: Entry, fill: Fill): Promise<void> => {
    const key = keyFor(asking, owner);
    if (now() < retryAt || flights.has(key)) return;
    let status = 500;
    try {
      const flight = ask({ ...asking, wanted: {} }, owner, fill, { fwd: "stale" }, true);
      const { answered, entry } = await launch(key, flight);
      if (entry) return count("refreshed", endpoint);
      if ("representation" in answered) ({ status } = answered.representation);
    } catch (error) {
      onError(error);
    }
    failed(key, status, failures);
    count("refresh_failed", endpoint);
  };

  /** A failing legacy is given time; anything else it says means that what is kept is no longer so. */
  const failed = (key: string, status: number, failures: number): void => {
    if (status < 500) return store.delete(key);
    const entry = store.get(key);
    if (entry) Object.assign(entry, { failures: failures + 1, retryAt: now() + backOff(failures + 1) });
  };

  return {
    size: () => store.size(),
    sharing: () => tier && (tier.trusted() ? "in step" : "cut off"),
    close: async () => tier?.close(),
    dropOwner(owner) {
      for (const [key] of store.inGroups([owner])) store.delete(key);
    },
    drop(drop) {
      dropHere(drop);
      return tier?.drop(drop);
    },
    ready(asking, at) {
      let best: Found | undefined;
      for (const key of places(asking)) {
        best = better(best, asking, store.get(key), at);
        if (best?.verdict === "fresh") return best.entry;
      }
      return undefined;
    },

    async answer(asking, fill, admit) {
      const { wanted } = asking;
      const found = await find(asking);
      const serveKept = async (entry: Entry, how: How): Promise<Answered> => {
        const refusal = await admit();
        return refusal
          ? { representation: plainly(refusal), cacheable: true, how: { fwd: "request" } }
          : { entry, how };
      };
      if (found?.verdict === "fresh") return serveKept(found.entry, HIT);
      if (found?.verdict === "stale") {
        void refresh(asking, found.entry, fill);
        return serveKept(found.entry, { hit: true, detail: "stale-while-revalidate" });
      }
      if (wanted.onlyIfCached)
        return {
          representation: plainly({ status: 504, body: '{"detail":"Nothing kept can answer this."}' }),
          cacheable: true,
          how: { detail: "only-if-cached" },
        };
      const ifError = found?.verdict === "ifError" ? found.entry : undefined;
      // While legacy is known to be down nobody has to wait for it again.
      if (ifError && now() < ifError.retryAt) return serveKept(ifError, { fwd: "stale", detail: "stale-if-error" });
      const how: How = { fwd: found === undefined ? "uri-miss" : ifError ? "stale" : "request" };
      const answered = await askOnce(asking, fill, how);
      const status = "entry" in answered ? answered.entry.status : answered.representation.status;
      if (found === undefined || "entry" in answered) return answered;
      const key = keyFor(asking, found.entry.owner);
      if (asking.owner === found.entry.owner) failed(key, status, found.entry.failures);
      return ifError && status >= 500 ? serveKept(ifError, { fwd: "stale", detail: "stale-if-error" }) : answered;
    },
  };
};
