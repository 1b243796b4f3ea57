import { type AuditMove, isSameStage, type Move } from "./stage.ts";

/** Lines of the audit log, and moves that are stored of an endpoint. */
export const MAX_MOVES = 1000;

/** The moves of one endpoint, the newest first. */
type Moves = readonly Move[];

/** Joins the moves of all endpoints, the newest first. */
export const auditLog = (all: readonly Moves[]): AuditMove[] =>
  all
    .flatMap((moves) => moves.map((move, i) => (isUndo(moves, i) ? { ...move, undo: true as const } : move)))
    .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, MAX_MOVES);

/**
 * The moves that can be undone, by endpoint: those of the last move of many endpoints, and of earlier moves to the same
 * stage. An endpoint that has moved since is left out. Empty if the last move of many was undone, or if all of its
 * endpoints have moved since.
 */
export const undoableMoves = (all: readonly Moves[]): ReadonlyMap<string, Move> => {
  const joint = all.filter(([latest]) => latest?.all !== undefined);
  const last = joint
    .flatMap(([latest]) => latest?.all ?? [])
    .toSorted()
    .at(-1);
  const candidates = joint.flatMap((moves) => (isUndo(moves) ? [] : moves.slice(0, 1)));
  const destination = candidates.find((move) => move.all === last)?.to;
  if (destination === undefined) return new Map();
  const undoable = candidates.filter(({ to }) => isSameStage(to, destination));
  return new Map(undoable.map((move) => [move.endpoint, move]));
};

/** True if a move of an endpoint takes back the move before it. */
const isUndo = (moves: Moves, at = 0): boolean => moves[at]?.all !== undefined && moves[at].all === moves[at + 1]?.all;
