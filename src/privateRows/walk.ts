import { setTimeout as sleep } from "node:timers/promises";
import { type Bits, bitsOf } from "./bits.ts";
import type { PrivateIndex } from "./index.ts";
import { openInsist } from "./insist.ts";
import type { PrivateRowsKnowledge } from "./knowledge.ts";
import { listedPage, type Looked, lookAt, type Looking, type Unheard } from "./look.ts";
import type { Questions } from "./questions.ts";
import { MOST } from "./rows.ts";

/** Ids beyond the highest one known that are looked at: a private row may be the newest of all. */
export const MARGIN = 100;
/** Rows of a list that are asked for at once: whole ones, so this bounds memory. */
const PAGE = 1000;
/** Milliseconds between the end of one walk and the next one. */
export const PAUSE = 10 * 60_000;
/** The same where more has happened than was looked at. */
const SHORT_PAUSE = 60_000;

export type WalkView = {
  /** What it is doing, and at which row or id. */
  doing: "waiting" | "listing" | "looking";
  at: number;
  /** Why legacy cannot be asked now. */
  trouble?: string | undefined;
};

export type WalkSettings = {
  knowledge: PrivateRowsKnowledge;
  index: PrivateIndex;
  /** Asks at its own pace. */
  looking: Looking;
  /** Look at once at what is not as it was; what they were asked about since a look began is theirs. */
  questions: Pick<Questions, "ask" | "watch">;
  take: (id: number, looked: Exclude<Looked, Unheard>) => void;
  mayWalk: () => boolean;
  onEvent: (event: "private_walk_failed" | "private_walk_refused", about: Record<string, unknown>) => void;
  signal: AbortSignal;
  now: () => number;
  /** Milliseconds between two walks, and until the first retry. */
  times?: { pause?: number | undefined; retry?: number | undefined };
};

export type Walker = {
  /** Walks until the signal. */
  run: () => Promise<void>;
  /** The next walk begins a minute after the last one at the latest. */
  soon: () => void;
  view: () => WalkView;
};

/** Looks for private rows among the ids that nobody is listed: all of them once, then the new ones and those of before. */
export const openWalker = (settings: WalkSettings): Walker => {
  const { knowledge, index, looking, questions, take, mayWalk, onEvent, signal, now, times = {} } = settings;
  const { pause = PAUSE, retry } = times;
  let isSoon = false;
  let view: WalkView = { doing: "waiting", at: 0 };
  const goesOn = () => !signal.aborted && mayWalk();
  const insist = openInsist({
    goesOn,
    signal,
    first: retry,
    onTrouble(trouble) {
      if (trouble && view.trouble === undefined) onEvent(`private_walk_${trouble.kind}`, { why: trouble.why });
      view = { ...view, trouble: trouble?.why };
    },
  });
  const legacyAnswers = async () => "ids" in (await listedPage(knowledge, { offset: 0, limit: 1 }, looking));

  /** All ids that anybody is listed. */
  const list = async (): Promise<{ listed: Bits; highest: number } | undefined> => {
    const listed = bitsOf();
    let highest = 0;
    for (let offset = 0; ; offset += PAGE) {
      view = { ...view, doing: "listing", at: offset };
      const page = await insist(() => listedPage(knowledge, { offset, limit: PAGE }, looking));
      if (page === undefined || "failed" in page) return undefined;
      for (const id of page.ids.filter((one) => one >= 1 && one <= MOST)) {
        listed.add(id);
        highest = Math.max(highest, id);
      }
      if (page.ids.length < PAGE) return { listed, highest };
    }
  };

  /** Whether there was something, or may have been. */
  const look = async (id: number): Promise<boolean> => {
    view = { ...view, doing: "looking", at: id };
    const isOutdated = questions.watch(id);
    const looked = await insist(() => lookAt(knowledge, id, looking), legacyAnswers);
    if (isOutdated() || looked === undefined) return true;
    take(id, "failed" in looked ? { found: "hidden", why: looked.failed } : looked);
    return !("found" in looked) || looked.found !== "none";
  };

  const walkOnce = async (): Promise<void> => {
    const before = index.walk();
    const known = await list();
    if (known === undefined) return;
    const { listed } = known;
    const there = bitsOf(listed.toText());
    const wasThere = bitsOf(before.listed);
    // Until all is looked at, whatever was there once and is not listed any more is one to look at.
    const either = bitsOf(before.listed);
    for (let id = 1; id <= known.highest; id++) if (listed.has(id)) either.add(id);
    for (const { id } of index.rows()) either.add(id);
    let eitherText = either.toText();

    // What legacy tells nobody may be nothing: how high its id is says nothing.
    const highestShown = () => index.rows().findLast(({ shown }) => shown !== undefined)?.id ?? 0;
    const highestOf = () => Math.max(before.highest, known.highest, highestShown());
    for (const { id } of index.rows()) if (listed.has(id) || id > highestOf() + MARGIN) questions.ask(id);

    let { checkedUpTo } = before;
    // The first that was beyond all others when it was looked at: it may have come to be before the one that is the highest at the end.
    let unsure = Infinity;
    const told = () =>
      index.walked({ ...before, checkedUpTo, highest: highestOf(), listed: eitherText, progressAt: now() });
    told();
    for (let id = 1; id <= highestOf() + MARGIN; id++) {
      const isNew = id > before.checkedUpTo;
      if (listed.has(id) || !(isNew || wasThere.has(id) || index.get(id) !== undefined)) continue;
      if (id > highestOf()) unsure = Math.min(unsure, id);
      const isThere = await look(id);
      if (!goesOn()) return;
      if (isThere) {
        // Public for a while it may be, and private again when the next walk begins.
        there.add(id);
        either.add(id);
        eitherText = either.toText();
      }
      if (isNew) checkedUpTo = Math.min(id, unsure - 1);
      told();
    }
    const [at, highest] = [now(), highestOf()];
    checkedUpTo = Math.min(highest, unsure - 1);
    index.walked({ checkedUpTo, highest, listed: there.toText(), completedAt: at, progressAt: at });
  };

  return {
    async run() {
      while (!signal.aborted) {
        const { completedAt } = index.walk();
        const rest = isSoon ? Math.min(pause, SHORT_PAUSE) : pause;
        if (mayWalk() && (completedAt === undefined || now() - completedAt >= rest)) {
          isSoon = false;
          await walkOnce();
        }
        view = { doing: "waiting", at: 0 };
        await sleep(Math.min(1000, pause), undefined, { signal, ref: false }).catch(() => undefined);
      }
    },
    soon: () => void (isSoon = true),
    view: () => view,
  };
};
