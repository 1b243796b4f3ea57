import type { Kept, Walk } from "./rows.ts";
import type { WalkView } from "./walk.ts";

/** Milliseconds without progress after which what is known says nothing of what is left out. */
const STALE = 30 * 60_000;

/**
 * `complete`: every id has been looked at, and still is now and then. `walking`, `missing`: not yet, or not even begun.
 * `stale`: it was complete, and nothing has been looked at for half an hour. `broken`: legacy cannot be asked.
 */
export type IndexState = "missing" | "walking" | "complete" | "stale" | "broken";

/** What operators see of the index. Times are ISO 8601. */
export type PrivateRowsView = {
  state: IndexState;
  trouble?: string | undefined;
  /** Rows that are known, and of these how many legacy tells nobody of. */
  rows: number;
  hidden: number;
  /** The last id that was looked at for the first time, and the last of all to look at. */
  checkedUpTo: number;
  lastId: number;
  completedAt?: string | undefined;
  /** Requests to legacy for it, since the start. */
  calls: number;
  doing: WalkView["doing"];
  at: number;
  kept: "memory" | "directory" | "redis";
  /** This instance is the one that walks. */
  walksHere: boolean;
};

/** Something was looked at within the last half hour. */
export const isCurrent = ({ completedAt = 0, progressAt = 0 }: Walk, now: number): boolean =>
  now - Math.max(completedAt, progressAt) <= STALE;

export const stateOf = (walk: Walk, trouble: string | undefined, now: number): IndexState => {
  const { completedAt, progressAt } = walk;
  if (completedAt !== undefined) return isCurrent(walk, now) ? "complete" : "stale";
  if (trouble !== undefined) return "broken";
  return progressAt === undefined ? "missing" : "walking";
};

/** What is told of what is known, and of what is being done. */
export const toldOf = (
  { rows, walk }: Kept,
  { doing, at, trouble }: WalkView,
  { margin, now }: { margin: number; now: number },
): Omit<PrivateRowsView, "calls" | "kept" | "walksHere"> => ({
  state: stateOf(walk, trouble, now),
  ...(trouble === undefined ? {} : { trouble }),
  rows: rows.length,
  hidden: rows.filter(({ shown }) => shown === undefined).length,
  checkedUpTo: walk.checkedUpTo,
  lastId: lastIdOf(walk, margin),
  ...(walk.completedAt === undefined ? {} : { completedAt: new Date(walk.completedAt).toISOString() }),
  doing,
  at,
});

export const lastIdOf = ({ highest }: Walk, margin: number): number => (highest === 0 ? 0 : highest + margin);
