import { LRUCache } from "lru-cache";
import type { How } from "./cacheStatus.ts";
import { backOff, type Entry, entryOf } from "./entry.ts";
import { openSingleFlight } from "./singleFlight.ts";
import { monotonic } from "./monotonic.ts";
import { type TieredEntries, openTieredEntries } from "./tieredEntries.ts";
import { type CacheRequest, type Fetch, entryKey } from "./cacheRequest.ts";
import { type Answered, HIT } from "./reply.ts";
import { untagged, tagged, type Content } from "./representation.ts";
import type { OpenSharedTier } from "./sharedTier.ts";
import type { Store } from "./store.ts";
import { ownedLifetimes } from "./lifetimes.ts";

export type Cache = Pick<TieredEntries, "ready" | "drop" | "forget" | "sharing" | "close"> & {
  /** `admit` is asked before something kept is served; what it gives is answered instead. */
  answer(asking: CacheRequest, fill: Fetch, admit: () => Promise<Content | undefined>): Promise<Answered>;
  size: Store["size"];
};

/** What the cache does beside answering, as it is counted. */
export type CacheEvent = "refreshed" | "refresh_failed" | "coalesced" | "dropped" | "not_stored";

export type CacheSettings = {
  store: Store;
  /** No request to legacy takes longer, in milliseconds. */
  longest: number;
  openTier?: OpenSharedTier | undefined;
  count: (event: CacheEvent, endpoint: string) => void;
  /** What a refresh that nobody waits for threw. */
  onError: (error: unknown) => void;
  now?: () => number;
};

/** For so long callers of what could not be kept do not wait for one another, in milliseconds. */
const PASS = 5000;

type Landed = { answered: Answered; entry?: Entry };

export const openCache = ({ store, longest, openTier, count, onError, now = Date.now }: CacheSettings): Cache => {
  const flights = openSingleFlight<Landed>();
  const passing = new LRUCache<string, true>({ max: 10_000, ttl: PASS, perf: monotonic });
  const kept = openTieredEntries({
    store,
    longest,
    openTier,
    now,
    onDrop: () => flights.clear(),
    onDropped: (endpoint) => count("dropped", endpoint),
    onError,
  });

  /** Asks legacy, and keeps the answer where it may be kept. */
  const ask = async (
    asking: CacheRequest,
    owner: string | undefined,
    fill: Fetch,
    how: How,
    background = false,
  ): Promise<Landed> => {
    const { endpoint, lifetimesOf } = asking.question;
    const key = entryKey(asking, owner);
    const mark = kept.mark();
    const { answer, groups } = await fill(owner, background);
    const declared = lifetimesOf(answer.status);
    if (declared === undefined) {
      passing.set(key, true);
      return { answered: { representation: untagged(answer), cacheable: true, how } };
    }
    const lifetimes = owner === undefined ? declared : ownedLifetimes(declared);
    const about = { endpoint, groups, lifetimes, storedAt: now(), ...(owner === undefined ? {} : { owner }) };
    const entry = entryOf(tagged(answer), about);
    passing.delete(key);
    const mayStore = asking.wanted.noStore !== true;
    const stored = mayStore && kept.keep(key, entry, mark);
    if (!stored) count("not_stored", endpoint);
    return { answered: { entry, how: { ...how, stored } }, entry };
  };

  /** One request to legacy for all who ask the same at the same time; an answer that is not kept is for one alone. */
  const askOnce = async (asking: CacheRequest, fill: Fetch, how: How): Promise<Answered> => {
    const { owner, question, wanted } = asking;
    const key = entryKey(asking, owner);
    const start = () => ask(asking, owner, fill, how);
    if (passing.has(key) || wanted.noStore) return (await start()).answered;
    const flying = flights.get(key);
    if (flying === undefined) return (await flights.launch(key, start())).answered;
    count("coalesced", question.endpoint);
    // Whatever befell the one before is its own; what it could not keep says nothing to us.
    const { entry } = await flying.catch((): Partial<Landed> => ({}));
    return entry === undefined ? (await start()).answered : { entry, how: { ...how, collapsed: true } };
  };

  /** Asks for a kept answer anew while it is still being served. */
  const refresh = async (asking: CacheRequest, served: Entry, fill: Fetch): Promise<void> => {
    const { owner, retryAt, endpoint } = served;
    const key = entryKey(asking, owner);
    if (now() < retryAt || flights.get(key)) return;
    let status = 500;
    try {
      const flight = ask({ ...asking, wanted: {} }, owner, fill, { fwd: "stale" }, true);
      const { answered, entry } = await flights.launch(key, flight);
      if (entry) return count("refreshed", endpoint);
      if ("representation" in answered) ({ status } = answered.representation);
    } catch (error) {
      onError(error);
    }
    failed(key, status, served);
    count("refresh_failed", endpoint);
  };

  /** A failing legacy is given time; anything else it says means that what is kept is no longer so. */
  const failed = (key: string, status: number, entry: Entry): void => {
    if (status < 500) return kept.remove(key, entry);
    entry.failures++;
    entry.retryAt = now() + backOff(entry.failures);
  };

  return {
    ready: (asking, at) => kept.ready(asking, at),
    drop: (drop) => kept.drop(drop),
    forget: (group) => kept.forget(group),
    sharing: () => kept.sharing(),
    size: () => store.size(),
    close: () => kept.close(),

    async answer(asking, fill, admit) {
      const { wanted } = asking;
      const found = await kept.find(asking);
      const serve = async (entry: Entry, how: How): Promise<Answered> => {
        const refusal = await admit();
        return refusal
          ? { representation: untagged(refusal), cacheable: true, how: { fwd: "request" } }
          : { entry, how };
      };
      if (found?.verdict === "fresh") return serve(found.entry, HIT);
      if (found?.verdict === "stale") {
        void refresh(asking, found.entry, fill);
        return serve(found.entry, { hit: true, detail: "stale-while-revalidate" });
      }
      if (wanted.onlyIfCached) {
        const refusal = await admit();
        return refusal ? { ...nothingKept, representation: untagged(refusal) } : nothingKept;
      }
      const ifError = found?.verdict === "ifError" ? found.entry : undefined;
      const serveStale = (entry: Entry) => serve(entry, { fwd: "stale", detail: "stale-if-error" });
      // While legacy is known to be down nobody has to wait for it again.
      if (ifError && now() < ifError.retryAt) return serveStale(ifError);

      const fwd = found === undefined ? "uri-miss" : ifError ? "stale" : "request";
      const answered = await askOnce(asking, fill, { fwd });
      if (found === undefined || "entry" in answered) return answered;
      const { status } = answered.representation;
      const { owner } = found.entry;
      if (asking.owner === owner) failed(entryKey(asking, owner), status, found.entry);
      return ifError && status >= 500 ? serveStale(ifError) : answered;
    },
  };
};

const nothingKept: Answered = {
  representation: untagged({ status: 504, body: '{"detail":"Nothing that is kept can answer this."}' }),
  cacheable: true,
  how: { detail: "only-if-cached" },
};
