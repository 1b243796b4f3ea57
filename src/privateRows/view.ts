import { bounded } from "../bounded.ts";
import type { Json } from "../rules/rule.ts";
import type { PrivateIndex } from "./index.ts";
import type { PrivateRowsKnowledge } from "./knowledge.ts";
import type { Placed } from "./merge.ts";
import type { Questions } from "./questions.ts";
import type { PrivateRow } from "./rows.ts";
import type { StandingAsker, Standings } from "./standing.ts";

/**
 * What an answer to one caller lacks: these rows, by id, as the index was at this version; nothing (`own`: legacy's list is all there is for
 * them); or nobody can tell (`incomplete`).
 */
export type View = { added: Placed<Json>[]; version: number } | "own" | "incomplete";

/** Milliseconds that a list waits for rows that something has just happened to. */
const SETTLE = 2000;

type ViewSettings = {
  knowledge: PrivateRowsKnowledge;
  index: PrivateIndex;
  questions: Questions;
  standings: Standings;
  isComplete: () => boolean;
  /** A row as the endpoint answers it; `undefined` where it does not fit. */
  oursOf: (row: PrivateRow) => Json | undefined;
};

export const openView = ({ knowledge, index, questions, standings, isComplete, oursOf }: ViewSettings) => {
  /** The rows that an answer could lack; those that nothing is known of for certain have no content. */
  const candidates = (input: Record<string, unknown>): { row: PrivateRow; matches: true | undefined }[] => {
    const open = questions.ids().map((id) => ({ id, uploader: index.get(id)?.uploader }));
    const certain = index.rows().filter(({ id }) => !questions.has(id));
    return [...certain, ...open].flatMap((row) => {
      const matches = knowledge.matches(input, row);
      return matches === false ? [] : [{ row, matches }];
    });
  };

  const viewNow = async (input: Record<string, unknown>, asker: StandingAsker): Promise<View> => {
    if (isComplete() && candidates(input).length === 0) return "own";
    const standing = await standings.of(asker);
    if (standing === "other") return "own";
    // Only now: what is known may have changed while legacy was asked.
    if (standing === "unknown" || !isComplete()) return "incomplete";
    const version = index.version();
    const lacking = candidates(input).filter(({ row: { id } }) => !standing.shown.has(id));
    const added: Placed<Json>[] = [];
    for (const { row, matches } of lacking) {
      const ours = matches ? oursOf(row) : undefined;
      if (ours === undefined) return "incomplete";
      added.push({ id: row.id, row: ours });
    }
    return added.length === 0 ? "own" : { added, version };
  };

  return async (input: Record<string, unknown>, asker: StandingAsker): Promise<View> => {
    const view = await viewNow(input, asker);
    if (view !== "incomplete" || !candidates(input).some(({ row }) => questions.has(row.id))) return view;
    await bounded(questions.settled(), Math.min(SETTLE, Math.max(1, asker.deadline - Date.now())));
    return viewNow(input, asker);
  };
};
