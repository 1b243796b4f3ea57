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
 * them); or nobody can tell (`incomplete`). `refused`: legacy does not know their key.
 */
export type View = { added: Placed<Json>[]; version: number } | "own" | "incomplete" | "refused";

/** Who asks for a list, and until when (milliseconds since the epoch). */
export type ViewAsker = StandingAsker & { deadline: number };

/** A list waits so long at most, in milliseconds, and for so much of its time, to hear what belongs into it: legacy's own takes time too. */
const PATIENCE = 2000;
const SHARE = 1 / 4;

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
    const matching = knowledge.matching(input);
    const open = questions.ids().map((id) => ({ id, uploader: index.get(id)?.uploader }));
    const certain = open.length === 0 ? index.rows() : index.rows().filter(({ id }) => !questions.has(id));
    return [...certain, ...open].flatMap((row) => {
      const matches = matching(row);
      return matches === false ? [] : [{ row, matches }];
    });
  };

  const viewNow = async (input: Record<string, unknown>, asker: StandingAsker, patience: number): Promise<View> => {
    const known = standings.known(asker.owner);
    if (known === "other") return "own";
    // Where nothing could be lacking nobody has to be asked.
    if (known === undefined && isComplete() && candidates(input).length === 0) return "own";
    const standing = await standings.of(asker, patience);
    if (standing === "other") return "own";
    if (standing === "refused") return standing;
    if (standing === "unknown" || !isComplete()) return "incomplete";
    // Only now: what is known may have changed while legacy was asked.
    const version = index.version();
    const added: Placed<Json>[] = [];
    for (const { row, matches } of candidates(input)) {
      if (standing.shown.has(row.id)) continue;
      const ours = matches && standing.isAdministrator ? oursOf(row) : undefined;
      if (ours === undefined) return "incomplete";
      added.push({ id: row.id, row: ours });
    }
    return added.length === 0 ? "own" : { added, version };
  };

  return async (input: Record<string, unknown>, asker: ViewAsker): Promise<View> => {
    const patience = Math.min(PATIENCE, Math.max(1, SHARE * (asker.deadline - Date.now())));
    const until = performance.now() + patience;
    const left = () => Math.max(1, until - performance.now());
    const view = await viewNow(input, asker, patience);
    if (view !== "incomplete" || !candidates(input).some(({ row }) => questions.has(row.id))) return view;
    await bounded(questions.settled(), left());
    return viewNow(input, asker, left());
  };
};
