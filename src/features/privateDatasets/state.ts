import type { PrivateIndex } from "./index.ts";
import type { Walk } from "./rows.ts";
import type { ScanView } from "./scan.ts";

/** Milliseconds without progress after which the index is out of date. */
const STALE = 30 * 60_000;

/**
 * `complete`: every id has been read, and is read again now and then. `walking`, `missing`: not yet, or not even begun.
 * `stale`: it was complete, but no id was read for half an hour. `broken`: legacy cannot be asked.
 */
export type IndexState = "missing" | "walking" | "complete" | "stale" | "broken";

/** What operators see of the index. Times are ISO 8601. */
export type PrivateRowsView = {
  state: IndexState;
  /** Why legacy cannot be asked. */
  trouble?: string | undefined;
  /** Known rows, and how many of them legacy does not show even to the administrator. */
  rows: number;
  hidden: number;
  /** The last id that was read for the first time, and the last one to read. */
  checkedUpTo: number;
  lastId: number;
  completedAt?: string | undefined;
  /** Requests to legacy since the start. */
  calls: number;
  doing: ScanView["doing"];
  at: number;
  kept: "memory" | "directory" | "redis";
  /** Whether this gateway is the one that scans. */
  walksHere: boolean;
};

/** Whether an id was read within the last half hour. */
export const isCurrent = ({ completedAt = 0, progressAt = 0 }: Walk, now: number): boolean =>
  now - Math.max(completedAt, progressAt) <= STALE;

/** The state of the index; `trouble`: why legacy cannot be asked. */
export const stateOf = (walk: Walk, trouble: string | undefined, now: number): IndexState => {
  const { completedAt, progressAt } = walk;
  if (completedAt !== undefined) return isCurrent(walk, now) ? "complete" : "stale";
  if (trouble !== undefined) return "broken";
  return progressAt === undefined ? "missing" : "walking";
};

/** The last id to read, `margin` ids beyond the highest known one; 0: none is known. */
export const lastIdOf = ({ highest }: Walk, margin: number): number => (highest === 0 ? 0 : highest + margin);

/** What operators see; `margin`: the ids beyond the highest known one that are read, `now`: milliseconds since the epoch. */
export const viewOf = (
  index: Pick<PrivateIndex, "rows" | "walk">,
  { doing, at, trouble }: ScanView,
  { margin, now, ...about }: Pick<PrivateRowsView, "calls" | "kept" | "walksHere"> & { margin: number; now: number },
): PrivateRowsView => {
  const [rows, walk] = [index.rows(), index.walk()];
  return {
    state: stateOf(walk, trouble, now),
    ...(trouble === undefined ? {} : { trouble }),
    rows: rows.length,
    hidden: rows.filter(({ shown }) => shown === undefined).length,
    checkedUpTo: walk.checkedUpTo,
    lastId: lastIdOf(walk, margin),
    ...(walk.completedAt === undefined ? {} : { completedAt: new Date(walk.completedAt).toISOString() }),
    doing,
    at,
    ...about,
  };
};
