import { isDeepStrictEqual } from "node:util";
import { type Change, type Kept, notWalked, openIdSet, type PrivateRow, type Walk } from "./rows.ts";

/** The private rows that are known, in memory. */
export type PrivateIndex = ReturnType<typeof openIndex>;

/** Opens an empty index. `onFound` is called with each change that this gateway has found, `onRows` after each change of a row. */
export const openIndex = ({ onFound, onRows }: { onFound: (change: Change) => void; onRows: () => void }) => {
  const byId = new Map<number, PrivateRow>();
  let ordered: PrivateRow[] | undefined;
  let walk = notWalked;
  let version = 0;
  const changed = () => {
    ordered = undefined;
    version++;
    onRows();
  };
  return {
    get: (id: number): PrivateRow | undefined => byId.get(id),
    /** All rows, by id. */
    rows: (): readonly PrivateRow[] => (ordered ??= [...byId.values()].toSorted((a, b) => a.id - b.id)),
    /** How far the scan is. */
    walk: (): Walk => walk,
    /** Changes with every change of a row. */
    version: (): number => version,
    snapshot: (): Kept => ({ rows: [...byId.values()], walk }),
    /** Adds or replaces a row. Without an uploader it keeps the one that is known. */
    put({ id, shown, uploader = byId.get(id)?.uploader }: PrivateRow): void {
      const known = byId.get(id);
      const row = { id, shown, uploader };
      if (known !== undefined && isDeepStrictEqual({ shown: undefined, uploader: undefined, ...known }, row)) return;
      byId.set(id, row);
      changed();
      onFound({ rows: [row], gone: [] });
    },
    remove(id: number): void {
      if (!byId.delete(id)) return;
      changed();
      onFound({ rows: [], gone: [id] });
    },
    /** Says how far the scan is. */
    walked(next: Walk): void {
      walk = next;
      onFound({ rows: [], gone: [], walk });
    },
    /** Applies what was stored, or what another gateway has found. `isWhole`: nothing else holds any more. */
    take(change: Change, isWhole: boolean): void {
      if (isWhole) byId.clear();
      for (const id of change.gone) byId.delete(id);
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
