import { LRUCache } from "lru-cache";
import { bounded } from "../bounded.ts";
import { monotonic } from "../cache/monotonic.ts";
import type { ErrorTable } from "../outcome/legacyOutcome.ts";
import type { PrivateIndex } from "./index.ts";
import type { PrivateRowsKnowledge } from "./knowledge.ts";
import { type AskLegacy, isListed, listedAmong, see, type Unheard } from "./look.ts";

/**
 * Whether legacy shows a caller the private rows of others. `shown`: of the known ones, those that its list shows this caller anyway; where
 * these are all there are, it was never seen whether they are an administrator.
 * `other`: it does not; `unknown`: nobody could be asked, not in time, or over nothing; `refused`: it does not know the key.
 */
export type Standing = { shown: ReadonlySet<number>; isAdministrator: boolean } | "other" | "unknown" | "refused";

export type StandingAsker = {
  /** Whose key it is, hashed. */
  owner: string;
  /** Asks with their own key. */
  ask: AskLegacy;
};

export type Standings = {
  /** Waits for so many milliseconds at most; what comes later is remembered for the next one. */
  of: (asker: StandingAsker, patience: number) => Promise<Standing>;
  /** What is remembered. */
  known: (owner: string) => Standing | undefined;
  /** Legacy has refused this key. */
  forget: (owner: string) => void;
};

/** What legacy said of a key: whether it is an administrator's, and which of these ids its list shows. */
type Known = { isAdministrator: boolean; asked: Set<number>; shown: Set<number> };
/** Why nothing is known. */
type Unknown = "unknown" | "refused";

/** For so long what legacy said of a key is remembered, in milliseconds. */
const MINUTE = 60_000;
/** Rows that turn out to be none any more are passed over, so many. */
const TRIES = 3;

/** So many of them, from the first to the last. */
const apart = (ids: readonly number[], most: number): readonly number[] => {
  if (ids.length <= most) return ids;
  return Array.from({ length: most }, (_, i) => ids[Math.round((i * (ids.length - 1)) / (most - 1))] as number);
};

const whyNot = (unheard: Unheard): Unknown => ("refused" in unheard ? "refused" : "unknown");

type StandingsSettings = {
  knowledge: PrivateRowsKnowledge;
  index: PrivateIndex;
  errors: ErrorTable;
  /** Something is not as the index has it. */
  question: (id: number) => void;
};

export const openStandings = ({ knowledge, index, errors, question }: StandingsSettings): Standings => {
  const known = new LRUCache<string, Known>({ max: 10_000, ttl: MINUTE, perf: monotonic });
  const asking = new Map<string, { since: number; found: Promise<Known | Unknown> }>();

  /** What legacy says first of one of these rows: that it is theirs to see, or not. */
  const isShownOneOf = async (ids: readonly number[], ask: AskLegacy): Promise<boolean | Unknown> => {
    for (const id of ids.slice(0, TRIES)) {
      const one = await see(knowledge, id, ask, errors);
      if ("refused" in one) return "refused";
      if ("seen" in one && one.seen === "private") return true;
      if ("seen" in one && one.seen === "denied") return false;
      if (index.get(id)?.shown !== undefined) question(id);
    }
    return "unknown";
  };

  /**
   * Whether they are shown rows that are not their own: of a few that lie far apart all that legacy says anything of, so that no oddity of
   * one row decides. First whether it is listed to them: in the other order a row of their own that is deleted in between would pass for another's.
   */
  const isShownAnothers = async (ids: readonly number[], ask: AskLegacy): Promise<boolean | Unknown> => {
    let isShown = false;
    for (const id of apart(ids, TRIES)) {
      const listed = await isListed(knowledge, id, ask, errors);
      if (!("isListed" in listed)) return whyNot(listed);
      if (listed.isListed) continue;
      const one = await isShownOneOf([id], ask);
      if (one === false || one === "refused") return one;
      isShown ||= one === true;
    }
    return isShown || "unknown";
  };

  const addShown = async (about: Known, ids: readonly number[], ask: AskLegacy): Promise<true | Unknown> => {
    const listed = await listedAmong(knowledge, ids, ask, errors);
    if (!("ids" in listed)) return whyNot(listed);
    for (const id of ids) about.asked.add(id);
    for (const id of listed.ids) about.shown.add(id);
    return true;
  };

  const all = () => index.rows().map(({ id }) => id);
  const readable = () => index.rows().flatMap(({ id, shown }) => (shown === undefined ? [] : [id]));
  const hidden = () => index.rows().flatMap(({ id, shown }) => (shown === undefined ? [id] : []));

  /** All private rows were their own (`shown`), and now there is another: whether they would be shown it was never asked. */
  const isOutdated = ({ isAdministrator, shown }: Known): boolean =>
    !isAdministrator && shown.size > 0 && readable().some((id) => !shown.has(id));

  const find = async ({ owner, ask }: StandingAsker): Promise<Known | Unknown> => {
    const start = monotonic.now();
    const remember = (found: Known): Known => {
      known.set(owner, found, { start });
      return found;
    };
    const nobody = (): Known => ({ isAdministrator: false, asked: new Set(), shown: new Set() });
    // Most callers are nobody's administrator: one question tells.
    let first = await isShownOneOf(readable(), ask);
    // Where there is more to say of a row it says so only to who may see it.
    if (first === "unknown") first = await isShownOneOf(hidden(), ask);
    if (first === "refused") return first;
    if (first === false) return remember(nobody());
    // They may be their own.
    const about = nobody();
    const isAdded = await addShown(about, all(), ask);
    if (isAdded !== true) return isAdded;
    const others = (ids: readonly number[]) => ids.filter((id) => about.asked.has(id) && !about.shown.has(id));
    // Where they are gone, or another has come meanwhile, that says nothing.
    const ownsAll = about.shown.size > 0 && !isOutdated(about);
    if (first === "unknown") return ownsAll && others(all()).length === 0 ? remember(about) : "unknown";
    const anothers = others(readable());
    if (anothers.length === 0) return ownsAll ? remember(about) : "unknown";
    const isAdministrator = await isShownAnothers(anothers, ask);
    if (typeof isAdministrator === "string") return isAdministrator;
    return remember(isAdministrator ? { ...about, isAdministrator } : nobody());
  };

  /** Waits for what is being asked already only for what is left of the time that the first one had. */
  const findOnce = ({ owner, ask }: StandingAsker, patience: number): Promise<Known | Unknown | "late"> => {
    const running = asking.get(owner) ?? {
      since: performance.now(),
      found: find({ owner, ask }).finally(() => asking.delete(owner)),
    };
    asking.set(owner, running);
    return bounded(running.found, Math.max(1, running.since + patience - performance.now()));
  };

  const standingOf = ({ isAdministrator, shown }: Known): Standing =>
    isAdministrator || shown.size > 0 ? { shown, isAdministrator } : "other";

  const remembered = (owner: string): Known | undefined => {
    const about = known.get(owner);
    return about === undefined || isOutdated(about) ? undefined : about;
  };

  return {
    forget: (owner) => void known.delete(owner),
    known(owner) {
      const about = remembered(owner);
      return about && standingOf(about);
    },
    async of(asker, patience) {
      const { owner, ask } = asker;
      if (index.rows().length === 0) return "unknown";
      const until = performance.now() + patience;
      const found = remembered(owner) ?? (await findOnce(asker, patience));
      if (typeof found === "string") return found === "late" ? "unknown" : found;
      const missing = all().filter((id) => !found.asked.has(id));
      if (missing.length === 0 || standingOf(found) === "other") return standingOf(found);
      const left = Math.max(1, until - performance.now());
      const isAdded = await bounded(addShown(found, missing, ask), left);
      return isAdded === true ? standingOf(found) : isAdded === "late" ? "unknown" : isAdded;
    },
  };
};
