import { withTimeout } from "../../concurrency/withTimeout.ts";
import type { Json } from "../../rules/rule.ts";
import type { AdminStatuses, KeyedCaller } from "./adminStatus.ts";
import type { PrivateIndex } from "./index.ts";
import type { PrivateRow, PrivateRowsKnowledge } from "../../endpoint/privateRows.ts";
import type { Placed } from "./merge.ts";
import type { Questions } from "./questions.ts";

/** The private rows that belong into an administrator's list, as the index was at this version. `isIncomplete`: there may be more. */
export type MissingRows = { added: Placed<Json>[]; isIncomplete: boolean; version: number };

/**
 * What legacy's list lacks for a caller. `own`: nothing, the caller is no administrator. `nothing`: nothing for anybody. `incomplete`:
 * nobody can tell, the list is legacy's own. `refused`: legacy does not know the key.
 */
export type Missing = MissingRows | "own" | "nothing" | "incomplete" | "refused";

/** `deadline`: until when a client waits for the list, in milliseconds since the epoch. */
export type ListCaller = KeyedCaller & { deadline: number };

/** A list waits for at most so many milliseconds, and for so much of the time that is left, to learn what belongs into it. */
const PATIENCE = 2000;
const SHARE = 1 / 4;

type MissingRowsSettings = {
  knowledge: Pick<PrivateRowsKnowledge, "matching">;
  index: PrivateIndex;
  questions: Pick<Questions, "has" | "ids" | "settled">;
  adminStatuses: Pick<AdminStatuses, "known" | "of">;
  /** Rows that turned public a while ago: legacy's whole list is needed to see whether they still are. */
  hasFormerlyPrivate: () => boolean;
  /** The index knows all rows; something was looked at a while ago at most. */
  isComplete: () => boolean;
  isCurrent: () => boolean;
  /** A row as the endpoint answers it; `undefined` where it does not fit. */
  oursOf: (row: PrivateRow) => Json | undefined;
};

export type FindMissingRows = {
  (input: Record<string, unknown>, caller: ListCaller): Promise<Missing>;
  /** Since then something has come to light that may belong into the list. */
  isOutdated: (input: Record<string, unknown>, missing: Missing) => boolean;
};

export const openMissingRows = (settings: MissingRowsSettings): FindMissingRows => {
  const { knowledge, index, questions, adminStatuses, hasFormerlyPrivate, isComplete, isCurrent, oursOf } = settings;

  /** Rows that are being looked at and may match: what is known of them may be wrong. */
  const open = (input: Record<string, unknown>): number[] => {
    const matching = knowledge.matching(input);
    return questions.ids().filter((id) => matching({ id, uploader: index.get(id)?.uploader }) !== false);
  };

  /** A row that legacy shows nobody, that does not fit, or of which it is not known whether it matches, is left out alone. */
  const collect = (input: Record<string, unknown>): MissingRows => {
    const matching = knowledge.matching(input);
    const added: Placed<Json>[] = [];
    let isIncomplete = !isComplete() || open(input).length > 0;
    for (const row of index.rows()) {
      const matches = questions.has(row.id) ? false : matching(row);
      if (matches === false) continue;
      const ours = matches && oursOf(row);
      if (ours === undefined) isIncomplete = true;
      else added.push({ id: row.id, row: ours });
    }
    return { added, isIncomplete, version: index.version() };
  };

  const mayLackSomething = (input: Record<string, unknown>): boolean => {
    if (!isComplete() || hasFormerlyPrivate() || open(input).length > 0) return true;
    const matching = knowledge.matching(input);
    return index.rows().some((row) => matching(row) !== false);
  };

  const find = async (input: Record<string, unknown>, caller: ListCaller): Promise<Missing> => {
    if (adminStatuses.known(caller.owner) === "other") return "own";
    if (!mayLackSomething(input)) return "nothing";
    const patience = Math.min(PATIENCE, Math.max(1, SHARE * (caller.deadline - Date.now())));
    const until = performance.now() + patience;
    const status = await adminStatuses.of(caller, patience);
    if (status === "other") return "own";
    if (status === "refused") return "refused";
    if (status === "unknown" || !isCurrent()) return "incomplete";
    if (open(input).length > 0) await withTimeout(questions.settled(), Math.max(1, until - performance.now()));
    const missing = collect(input);
    if (missing.added.length > 0 || hasFormerlyPrivate()) return missing;
    return missing.isIncomplete ? "incomplete" : "nothing";
  };

  return Object.assign(find, {
    isOutdated(input: Record<string, unknown>, missing: Missing): boolean {
      if (missing === "nothing") return mayLackSomething(input);
      // While the index is built it changes all the time, and the list says so.
      if (typeof missing === "string" || (missing.isIncomplete && !isComplete())) return false;
      return missing.version !== index.version() || (!missing.isIncomplete && open(input).length > 0);
    },
  });
};
