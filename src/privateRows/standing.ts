import { LRUCache } from "lru-cache";
import { bounded } from "../bounded.ts";
import { monotonic } from "../cache/monotonic.ts";
import type { ErrorTable } from "../outcome/legacyOutcome.ts";
import type { PrivateIndex } from "./index.ts";
import type { PrivateRowsKnowledge } from "./knowledge.ts";
import { type AskLegacy, listedAmong, see } from "./look.ts";

/**
 * Whether legacy shows a caller the private rows of others. `shown`: of the known ones, those that its list shows this caller anyway.
 * `other`: it does not; `unknown`: nobody could be asked, or over nothing.
 */
export type Standing = { shown: ReadonlySet<number> } | "other" | "unknown";

export type StandingAsker = {
  /** Whose key it is, hashed. */
  owner: string;
  /** Asks with their own key. */
  ask: AskLegacy;
  /** Milliseconds since the epoch. */
  deadline: number;
};

export type Standings = {
  of: (asker: StandingAsker) => Promise<Standing>;
  /** Legacy has refused this key. */
  forget: (owner: string) => void;
};

/** What legacy said of a key: whether it is an administrator's, and which of these ids its list shows. */
type Known = { isAdministrator: boolean; asked: Set<number>; shown: Set<number> };

/** For so long what legacy said of a key is remembered, in milliseconds. */
const MINUTE = 60_000;
/** Rows that turn out to be none any more are passed over, so many. */
const TRIES = 3;

type StandingsSettings = {
  knowledge: PrivateRowsKnowledge;
  index: PrivateIndex;
  errors: ErrorTable;
  /** Something is not as the index has it. */
  question: (id: number) => void;
};

export const openStandings = ({ knowledge, index, errors, question }: StandingsSettings): Standings => {
  const known = new LRUCache<string, Known>({ max: 10_000, ttl: MINUTE, perf: monotonic });
  const asking = new Map<string, Promise<Known | undefined>>();

  /** Whether legacy shows one of these rows, whose content is known, to who asks. */
  const isShownOneOf = async (ids: readonly number[], ask: AskLegacy): Promise<boolean | undefined> => {
    for (const id of ids.slice(0, TRIES)) {
      const one = await see(knowledge, id, ask, errors);
      if (!("seen" in one)) return undefined;
      if (one.seen === "private") return true;
      if (one.seen === "denied") return false;
      question(id);
    }
    return undefined;
  };

  const addShown = async (about: Known, ids: readonly number[], ask: AskLegacy): Promise<boolean> => {
    const listed = await listedAmong(knowledge, ids, ask, errors);
    if (!("ids" in listed)) return false;
    for (const id of ids) about.asked.add(id);
    for (const id of listed.ids) about.shown.add(id);
    return true;
  };

  const all = () => index.rows().map(({ id }) => id);
  const readable = () => index.rows().flatMap(({ id, shown }) => (shown === undefined ? [] : [id]));

  /** All private rows were their own (`shown`), and now there is another: whether they would be shown it was never asked. */
  const isOutdated = ({ isAdministrator, shown }: Known): boolean =>
    !isAdministrator && shown.size > 0 && readable().some((id) => !shown.has(id));

  const find = async ({ owner, ask }: StandingAsker): Promise<Known | undefined> => {
    const start = monotonic.now();
    const nobody: Known = { isAdministrator: false, asked: new Set(), shown: new Set() };
    // Most callers are nobody's administrator: one question tells.
    const first = await isShownOneOf(readable(), ask);
    if (first === undefined) return undefined;
    let found = nobody;
    if (first) {
      // It may be their own. First what the list shows, then a row that it does not show: in the other order a row of their own that is
      // deleted in between would pass for another's.
      const about: Known = { ...nobody, asked: new Set(), shown: new Set() };
      if (!(await addShown(about, all(), ask))) return undefined;
      const others = readable().filter((id) => about.asked.has(id) && !about.shown.has(id));
      if (others.length === 0) {
        // All were their own. Where they are gone, or another has come meanwhile, that says nothing.
        if (about.shown.size === 0 || isOutdated(about)) return undefined;
        found = about;
      } else {
        const isAdministrator = await isShownOneOf(others, ask);
        if (isAdministrator === undefined) return undefined;
        if (isAdministrator) found = { ...about, isAdministrator };
      }
    }
    known.set(owner, found, { start });
    return found;
  };

  const findOnce = ({ owner, ...asker }: StandingAsker): Promise<Known | undefined> => {
    const running = asking.get(owner) ?? find({ owner, ...asker }).finally(() => asking.delete(owner));
    asking.set(owner, running);
    return running;
  };

  return {
    forget: (owner) => void known.delete(owner),
    async of(asker) {
      const { owner, deadline, ask } = asker;
      if (readable().length === 0) return "unknown";
      const left = Math.max(1, deadline - Date.now());
      let about = known.get(owner);
      if (about && isOutdated(about)) about = undefined;
      const found = about ?? (await bounded(findOnce(asker), left));
      if (found === undefined || found === "late") return "unknown";
      if (!found.isAdministrator) return "other";
      const missing = all().filter((id) => !found.asked.has(id));
      if (missing.length > 0 && (await bounded(addShown(found, missing, ask), left)) !== true) return "unknown";
      return { shown: found.shown };
    },
  };
};
