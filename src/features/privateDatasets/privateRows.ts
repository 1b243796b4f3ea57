import { LRUCache } from "lru-cache";
import { monotonic } from "../../cache/monotonic.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Caller, LegacyFailed } from "../../legacy/client.ts";
import type { ErrorTable } from "../../legacy/reading.ts";
import { type Semaphore, openSemaphore } from "../../upstream/semaphore.ts";
import { openAdminStatuses } from "./adminStatus.ts";
import { openAsListed } from "./asListed.ts";
import { bitsOf } from "./bits.ts";
import { type Feed, openFeed } from "./feed.ts";
import { openIndex } from "./index.ts";
import type { PrivateRowsKnowledge } from "../../endpoint/privateRows.ts";
import { answersAtAll, type AskLegacy, listedAmong, type Looked, lookAt, type Looking, type Unheard } from "./look.ts";
import { type FindMissingRows, openMissingRows } from "./missingRows.ts";
import { openPace, type Pace } from "./pace.ts";
import { openQuestions } from "./questions.ts";
import { type Change, idsOf } from "./rows.ts";
import { isCurrent, type PrivateRowsView, stateOf, toldOf } from "./state.ts";
import type { IndexStore, IndexStoreEvent, OpenIndexStore } from "./store/indexStore.ts";
import { FAR, MARGIN, openWalker, type WalkWays } from "./walk.ts";

/** The rows that legacy's list shows to their owners alone, for the lists of administrators. */
export type PrivateRows = {
  knowledge: PrivateRowsKnowledge;
  /** What legacy's list lacks for a caller. */
  missing: FindMissingRows;
  feed: Feed;
  /**
   * Legacy's whole list has been read with a caller's key: rows that were private a while ago and are listed to this caller no more are
   * looked at.
   */
  recheckUnlisted: (listed: ReadonlyMap<number, unknown>, ask: AskLegacy) => Promise<void>;
  /** All ids that legacy may list rows of. */
  ids: () => number[];
  /** Whole lists are large: so few are read at once, for all administrators together. */
  wholeLists: Semaphore;
  /** Legacy has refused this key, hashed. */
  forget: (owner: string) => void;
  state: () => PrivateRowsView;
  /** Opens the store, and begins to walk; rejects where the store cannot be used. */
  start: () => Promise<void>;
  close: () => Promise<void>;
};

export type PrivateRowsEvent =
  | IndexStoreEvent
  | "private_walk_failed"
  | "private_walk_refused"
  | "private_row_hidden"
  | "private_row_unfit";

export type PrivateRowsSettings = {
  knowledge: PrivateRowsKnowledge;
  endpoint: Endpoint;
  errors: ErrorTable;
  openStore: OpenIndexStore;
  /** Asks legacy with the administrator's key, or as nobody. */
  askAs: (key: string | undefined, about: Required<Pick<Caller, "signal" | "spent">>) => AskLegacy;
  key: string;
  /** Requests a second of the walk. */
  rate: number;
  isBusy: () => boolean;
  /** Milliseconds for which a write whose answer is lost may still be going on. */
  unsettled: number;
  /** After every change of a row. */
  onRows: () => void;
  onEvent: (event: PrivateRowsEvent, about: { endpoint?: string } & Record<string, unknown>) => void;
  now?: () => number;
  ways?: WalkWays;
};

/** Rows that turned public are watched for so many milliseconds: longer than a walk takes that would find them private again. */
const HOUR = 3_600_000;
const MAX_FORMER = 100;
/** Whole lists that are read at once, and requests that may wait for one. */
const MAX_WHOLE_LISTS = 2;
const MAX_WAITING = 64;
/** Requests to legacy that are made at once, after a rest, when something has happened to rows. */
const BURST = 20;

export const openPrivateRows = (settings: PrivateRowsSettings): PrivateRows => {
  const { knowledge, endpoint, errors, askAs, rate, isBusy, onEvent, now = () => Date.now(), ways = {} } = settings;
  const stopping = new AbortController();
  const { signal } = stopping;
  let store: IndexStore | undefined;
  let walking: Promise<void> | undefined;
  const index = openIndex({ onFound: (change) => store?.save(change), onRows: settings.onRows });

  const spent = { calls: 0, ms: 0 };
  const askAt = (key: string | undefined, turn: Pace): AskLegacy => {
    const ask = askAs(key, { signal, spent });
    return async (request, form) => {
      const before = spent.calls;
      if (!(await turn())) return broken("the gateway stops");
      // Nobody else would hear of it: no caller waits for this.
      const reply = await ask(request, form).catch((error: Error) => broken(error.message));
      // What could not be read was asked for once more, in another form.
      for (let i = before + 1; i < spent.calls; i++) await turn();
      return reply;
    };
  };
  const lookingAt = (turn: Pace): Looking => ({
    ask: askAt(settings.key, turn),
    askAsNobody: askAt(undefined, turn),
    errors,
  });
  const slowly = lookingAt(openPace({ rate, isBusy, signal }));
  // What has just happened is looked at before the callers who ask for it are answered.
  const atOnce = lookingAt(openPace({ rate, burst: BURST, isBusy: () => false, signal }));

  const formerlyPrivate = new LRUCache<number, true>({ max: MAX_FORMER, ttl: HOUR, perf: monotonic });
  const take = (id: number, looked: Exclude<Looked, Unheard>): void => {
    if (looked.found === "public" && index.get(id) !== undefined) formerlyPrivate.set(id, true);
    else if (looked.found !== "public") formerlyPrivate.delete(id);
    if (looked.found === "private") return index.put({ id, shown: looked.shown });
    if (looked.found !== "hidden") return index.remove(id);
    const known = index.get(id);
    if (known === undefined || known.shown !== undefined)
      onEvent("private_row_hidden", { endpoint: knowledge.endpoint, id, why: looked.why });
    return index.put({ id });
  };
  const questions = openQuestions({
    lookAt: (id) => lookAt(knowledge, id, atOnce),
    legacyAnswers: () => answersAtAll(knowledge, atOnce),
    take,
    onFull: () => walker.soon(),
    signal,
    retry: ways.retry,
  });
  const walker = openWalker({
    knowledge,
    index,
    looking: slowly,
    questions,
    take,
    mayWalk: () => store?.mayWalk() ?? false,
    onEvent: (event, about) => onEvent(event, { endpoint: knowledge.endpoint, ...about }),
    signal,
    now,
    ways,
  });
  const adminStatuses = openAdminStatuses(knowledge, errors);
  const isComplete = () => stateOf(index.walk(), walker.view().trouble, now()) === "complete";
  const oursOf = openAsListed({
    knowledge,
    endpoint,
    onUnfit: (id, places) => onEvent("private_row_unfit", { endpoint: knowledge.endpoint, id, places }),
  });

  return {
    knowledge,
    missing: openMissingRows({
      knowledge,
      index,
      questions,
      adminStatuses,
      hasFormerlyPrivate: () => !formerlyPrivate.keys().next().done,
      isComplete,
      isCurrent: () => isCurrent(index.walk(), now()),
      oursOf,
    }),
    feed: openFeed({ knowledge, index, questions, walkSoon: walker.soon, errors, unsettled: settings.unsettled }),
    async recheckUnlisted(listed, ask) {
      const ids = [...formerlyPrivate.keys()].filter((id) => !listed.has(id));
      if (ids.length === 0) return;
      const heard = await listedAmong(knowledge, ids, ask, errors);
      const stillListed = new Set("ids" in heard ? heard.ids : []);
      for (const id of ids) if (!stillListed.has(id)) questions.ask(id);
    },
    ids() {
      const { highest, listed } = index.walk();
      const bits = bitsOf(listed);
      const ids = index.rows().map(({ id }) => id);
      for (let id = 1; id <= highest; id++) if (bits.has(id) && index.get(id) === undefined) ids.push(id);
      // What came after the last walk.
      for (let id = highest + 1; id <= highest + FAR; id++) if (index.get(id) === undefined) ids.push(id);
      return ids;
    },
    wholeLists: openSemaphore({ places: MAX_WHOLE_LISTS, queue: MAX_WAITING }),
    forget: adminStatuses.forget,
    state: () => ({
      ...toldOf(index.snapshot(), walker.view(), { margin: ways.margin ?? MARGIN, now: now() }),
      calls: spent.calls,
      kept: store?.kind ?? "memory",
      walksHere: store?.mayWalk() ?? false,
    }),
    async start() {
      const onChange = (change: Change, isWhole: boolean): void => {
        if (!isWhole) questions.outdate(idsOf(change));
        // Deleted or public: another instance knows, this one looks where it matters.
        for (const id of change.gone) if (index.get(id) !== undefined) formerlyPrivate.set(id, true);
        index.take(change, isWhole);
      };
      store = await settings.openStore({ onChange, onEvent });
      walking = walker.run();
    },
    async close() {
      stopping.abort();
      await walking;
      await store?.close();
    },
  };
};

const broken = (why: string): LegacyFailed => ({ failed: { kind: "broken", message: why }, why });
