import { setTimeout as sleep } from "node:timers/promises";
import { bitsOf } from "./bits.ts";
import type { PrivateIndex } from "./index.ts";
import { openInsist } from "./insist.ts";
import type { PrivateRowsKnowledge } from "../../endpoint/privateRows.ts";
import { listAll } from "./listed.ts";
import { answersAtAll, type Looked, lookAt, type Looking, type Unheard } from "./look.ts";
import type { Questions } from "./questions.ts";
import type { Walk } from "./rows.ts";

/** How a search goes, where it is not as usual. */
export type WalkWays = {
  /** Milliseconds between the end of one walk and the next one, and until something that failed is tried again. */
  pause?: number;
  retry?: number;
  /** Ids beyond the highest one known that are looked at: a private row may be the newest of all. */
  margin?: number;
  /** Ids under which there was nothing that are looked at again with each walk. */
  slice?: number;
};

export const MARGIN = 100;
/** Ids that are deleted at the end of all; more are not believed in. */
export const FAR = 1000;
/** At ten a second half a minute of each walk; all of 50,000 in a day. */
const SLICE = 300;
const PAUSE = 10 * 60_000;
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
  ways?: WalkWays;
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
  const { knowledge, index, looking, questions, take, mayWalk, onEvent, signal, now, ways = {} } = settings;
  const { pause = PAUSE, retry, margin = MARGIN, slice: most = SLICE } = ways;
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

  /** Whether there was something, or may have been. */
  const look = async (id: number): Promise<boolean> => {
    view = { ...view, doing: "looking", at: id };
    const isOutdated = questions.watch(id);
    const known = index.get(id);
    const looked = await insist(
      () => lookAt(knowledge, id, looking),
      () => answersAtAll(knowledge, looking),
      // What failed the last time holds up no walk.
      known !== undefined && known.shown === undefined ? 1 : undefined,
    );
    if (isOutdated() || looked === undefined) return true;
    take(id, "failed" in looked ? { found: "hidden", why: looked.failed } : looked);
    return !("found" in looked) || looked.found !== "none";
  };

  /** All of it once: `before` is how far the last one came. */
  const walkOnce = async (before: Walk): Promise<void> => {
    const at = (offset: number) => void (view = { ...view, doing: "listing", at: offset });
    const known = await listAll({ knowledge, looking, insist, at });
    if (known === undefined) return;
    const { ids: listed } = known;
    const wasThere = bitsOf(before.listed);
    // For the next walk what is there now; for one that goes on with this one whatever was there at some time: what is not listed any more
    // is to be looked at.
    const there = bitsOf(listed.toText());
    const either = bitsOf(before.listed);
    const isThere = (id: number) => {
      there.add(id);
      either.add(id);
    };
    for (let id = 1; id <= known.highest; id++) if (listed.has(id)) either.add(id);
    for (const { id } of index.rows()) isThere(id);

    // What legacy tells nobody may be nothing: how high its id is says nothing.
    const highestShown = () => index.rows().findLast(({ shown }) => shown !== undefined)?.id ?? 0;
    const highestSeen = () => Math.max(known.highest, highestShown());
    // The highest of all may have been deleted: ids are not given twice. But one far beyond all others never was.
    const highestOf = () => Math.max(highestSeen(), Math.min(before.highest, highestSeen() + FAR));
    for (const { id } of index.rows()) if (listed.has(id) || id > highestOf() + margin) questions.ask(id);

    let { checkedUpTo, recheckedUpTo = 0 } = before;
    let slice = before.completedAt === undefined ? 0 : most;
    const told = () => {
      const highest = highestOf();
      index.walked({ ...before, checkedUpTo, recheckedUpTo, highest, listed: either.toText(), progressAt: now() });
    };
    told();
    /** The first id that was looked at while it was beyond all others. */
    let beyond: number | undefined;
    /** Ids that were beyond all others when they were looked at, and are not any more, may have come to be since: the next walk looks again. */
    const markPassed = () => {
      const reached = highestOf();
      if (beyond === undefined || reached < beyond) return;
      for (let id = beyond; id <= reached; id++) if (!listed.has(id)) isThere(id);
      beyond = reached + 1;
    };
    for (let id = 1; id <= highestOf() + margin; id++) {
      if (listed.has(id)) continue;
      const isNew = id > before.checkedUpTo;
      const isKnown = wasThere.has(id) || index.get(id) !== undefined;
      const isOld = !isNew && !isKnown && id > recheckedUpTo && slice > 0;
      if (!isNew && !isKnown && !isOld) continue;
      const highest = highestOf();
      const wasSomething = await look(id);
      if (!goesOn()) return;
      // Those below it that were beyond all others when they were looked at may have come to be before it.
      if (wasSomething) for (let one = Math.min(id, highest + 1); one <= id; one++) if (!listed.has(one)) isThere(one);
      if (id > highest) beyond ??= id;
      markPassed();
      if (isNew) checkedUpTo = Math.min(id, highestOf());
      if (isOld) {
        recheckedUpTo = id;
        slice--;
      }
      told();
    }
    markPassed();
    const [time, highest] = [now(), highestOf()];
    index.walked({
      checkedUpTo: highest,
      // Those that are left began anew.
      recheckedUpTo: slice > 0 ? 0 : recheckedUpTo,
      highest,
      listed: there.toText(),
      completedAt: time,
      progressAt: time,
    });
  };

  return {
    async run() {
      while (!signal.aborted) {
        const before = index.walk();
        const { completedAt } = before;
        const rest = isSoon ? Math.min(pause, SHORT_PAUSE) : pause;
        if (mayWalk() && (completedAt === undefined || now() - completedAt >= rest)) {
          isSoon = false;
          await walkOnce(before);
        }
        view = { doing: "waiting", at: 0 };
        await sleep(Math.min(1000, pause), undefined, { signal, ref: false }).catch(() => undefined);
      }
    },
    soon: () => void (isSoon = true),
    view: () => view,
  };
};
