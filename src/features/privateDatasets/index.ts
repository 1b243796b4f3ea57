import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { monotonic } from "../../cache/store.ts";
import type { RowState } from "./readRow.ts";
import { type Change, type Kept, notWalked, openIdSet, type PrivateRow, type Walk } from "./rows.ts";

/** The private rows that are known, in memory. */
export type PrivateIndex = ReturnType<typeof openIndex>;

/** Called with changes of the index. */
type IndexSettings = {
  /** Called with each change that this gateway has found. */
  onFound: (change: Change) => void;
  /** Called after each change of a row. */
  onRows: () => void;
  /** Called for a row that legacy does not show. */
  onHidden?: (id: number, why: string) => void;
};

/** Milliseconds for which rows that turned public are watched: longer than a scan takes, which would find them private again. */
const FORMERLY_PRIVATE_TTL = 3_600_000;
const MAX_FORMERLY_PRIVATE = 100;

/** Opens an empty index. */
export const openIndex = ({ onFound, onRows, onHidden }: IndexSettings) => {
  const formerlyPrivate = new LRUCache<number, true>({
    max: MAX_FORMERLY_PRIVATE,
    ttl: FORMERLY_PRIVATE_TTL,
    perf: monotonic,
  });
  const byId = new Map<number, PrivateRow>();
  let ordered: PrivateRow[] | undefined;
  let walk = notWalked;
  let version = 0;
  const changed = () => {
    ordered = undefined;
    version++;
    onRows();
  };
  const put = ({ id, shown, uploader = byId.get(id)?.uploader }: PrivateRow): void => {
    const known = byId.get(id);
    const row = { id, shown, uploader };
    if (known !== undefined && isDeepStrictEqual({ shown: undefined, uploader: undefined, ...known }, row)) return;
    byId.set(id, row);
    changed();
    onFound({ rows: [row], gone: [] });
  };
  const remove = (id: number): void => {
    if (!byId.delete(id)) return;
    changed();
    onFound({ rows: [], gone: [id] });
  };

  return {
    get: (id: number): PrivateRow | undefined => byId.get(id),
    /** All rows, by id. */
    rows: (): readonly PrivateRow[] => (ordered ??= [...byId.values()].toSorted((a, b) => a.id - b.id)),
    /** The scan's progress. */
    walk: (): Walk => walk,
    /** Changes with every change of a row. */
    version: (): number => version,
    snapshot: (): Kept => ({ rows: [...byId.values()], walk }),
    /** Adds or replaces a row. Without an uploader it keeps the one that is known. */
    put,
    remove,
    /** Records the state that was read of an id. */
    record: (id: number, state: RowState): void => {
      const known = byId.get(id);
      if (state.found !== "public") formerlyPrivate.delete(id);
      else if (known !== undefined) formerlyPrivate.set(id, true);
      if (state.found === "private") return put({ id, shown: state.shown });
      if (state.found !== "hidden") return remove(id);
      if (known === undefined || known.shown !== undefined) onHidden?.(id, state.why);
      put({ id });
    },
    /** The ids of rows that turned public within the last hour, a hundred at most. */
    formerlyPrivate: (): number[] => [...formerlyPrivate.keys()],
    /** Records the scan's progress. */
    walked(next: Walk): void {
      walk = next;
      onFound({ rows: [], gone: [], walk });
    },
    /** Applies stored changes, or those of another gateway. `isWhole`: they replace the whole index. */
    take(change: Change, isWhole: boolean): void {
      // Another gateway knows whether these were deleted or are public. This one checks it when it matters.
      for (const id of change.gone) if (byId.delete(id)) formerlyPrivate.set(id, true);
      if (isWhole) byId.clear();
      for (const row of change.rows) byId.set(row.id, row);
      if (isWhole || change.walk !== undefined) walk = change.walk ?? notWalked;
      if (isWhole || change.gone.length > 0 || change.rows.length > 0) changed();
    },
    /** All ids that legacy may list to any caller. `beyond`: how many of them follow the highest one that is known. */
    listableIds(beyond: number): number[] {
      const ids = new Set(byId.keys());
      const listed = openIdSet(walk.listed);
      for (let id = 1; id <= walk.highest + beyond; id++) if (id > walk.highest || listed.has(id)) ids.add(id);
      return [...ids];
    },
  };
};
