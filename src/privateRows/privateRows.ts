import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Caller, Failed } from "../legacy/client.ts";
import type { ErrorTable } from "../outcome/legacyOutcome.ts";
import { openAsListed } from "./asListed.ts";
import { type Feed, openFeed } from "./feed.ts";
import { openIndex } from "./index.ts";
import type { PrivateRowsKnowledge } from "./knowledge.ts";
import { answersAtAll, type AskLegacy, listedAmong, type Looked, lookAt, type Looking, type Unheard } from "./look.ts";
import { openPace, type Pace } from "./pace.ts";
import { openQuestions } from "./questions.ts";
import type { Change } from "./rows.ts";
import { openStandings } from "./standing.ts";
import { type PrivateRowsView, stateOf, toldOf } from "./state.ts";
import { idsOf } from "./store/change.ts";
import type { IndexStore, IndexStoreEvent, OpenIndexStore } from "./store/indexStore.ts";
import { openView, type View, type ViewAsker } from "./view.ts";
import { MARGIN, openWalker, type WalkWays } from "./walk.ts";

/** The rows that legacy's list shows to their owners alone, for the lists of administrators. */
export type PrivateRows = {
  knowledge: PrivateRowsKnowledge;
  /** What a list lacks, for who asks. */
  view: (input: Record<string, unknown>, asker: ViewAsker) => Promise<View>;
  feed: Feed;
  /** A row was found in legacy's list that the index has for a private one of another's. */
  question: (id: number) => void;
  /** Of these rows the ones that legacy's list does not show to who asks, as far as it can be asked. */
  stillPrivate: <Row extends { id: number }>(rows: readonly Row[], ask: AskLegacy) => Promise<readonly Row[]>;
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

  const take = (id: number, looked: Exclude<Looked, Unheard>): void => {
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
  const standings = openStandings({ knowledge, index, errors, question: questions.ask });
  const isComplete = () => stateOf(index.walk(), walker.view().trouble, now()) === "complete";
  const oursOf = openAsListed({
    knowledge,
    endpoint,
    onUnfit: (id, places) => onEvent("private_row_unfit", { endpoint: knowledge.endpoint, id, places }),
  });

  return {
    knowledge,
    view: openView({ knowledge, index, questions, standings, isComplete, oursOf }),
    feed: openFeed({ knowledge, index, questions, walkSoon: walker.soon, errors, unsettled: settings.unsettled }),
    question: questions.ask,
    async stillPrivate(rows, ask) {
      const ids = rows.map(({ id }) => id);
      const heard = await listedAmong(knowledge, ids, ask, errors);
      const listed = new Set("ids" in heard ? heard.ids : []);
      for (const id of listed) questions.ask(id);
      return rows.filter(({ id }) => !listed.has(id));
    },
    forget: standings.forget,
    state: () => ({
      ...toldOf(index.snapshot(), walker.view(), { margin: ways.margin ?? MARGIN, now: now() }),
      calls: spent.calls,
      kept: store?.kind ?? "memory",
      walksHere: store?.mayWalk() ?? false,
    }),
    async start() {
      const onChange = (change: Change, isWhole: boolean): void => {
        if (!isWhole) questions.outdate(idsOf(change));
        index.take(change, isWhole);
      };
      store = await settings.openStore({ snapshot: index.snapshot, onChange, onEvent });
      walking = walker.run();
    },
    async close() {
      stopping.abort();
      await walking;
      await store?.close();
    },
  };
};

const broken = (why: string): Failed => ({ failed: { kind: "broken", message: why }, why });
