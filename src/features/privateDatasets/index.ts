import { isDeepStrictEqual } from "node:util";
import { type Change, type Kept, notWalked, openIdSet, type PrivateRow, type Walk } from "./rows.ts";

/** The private rows that are known, in memory. */
export type PrivateIndex = {
  get: (id: number) => PrivateRow | undefined;
  /** All rows, by id. */
  rows: () => readonly PrivateRow[];
  walk: () => Walk;
  /** Changes with every change of a row. */
  version: () => number;
  /** Adds or replaces a row; without an uploader it keeps the one that is known. */
  put: (row: PrivateRow) => void;
  remove: (id: number) => void;
  /** Says how far the scan is. */
  walked: (walk: Walk) => void;
  snapshot: () => Kept;
  /** Applies what was stored, or what another gateway has found out. `isWhole`: nothing else holds any more. */
  take: (change: Change, isWhole: boolean) => void;
  /** All ids that legacy may list to any caller; `beyond`: how many of them follow the highest one that is known. */
  listableIds: (beyond: number) => number[];
};

/** Who hears of changes. */
export type IndexSettings = {
  /** Called with each change that this gateway has found. */
  onFound: (change: Change) => void;
  /** Called after each change of a row. */
  onRows: () => void;
};

/** Opens an empty index. */
export const openIndex = ({ onFound, onRows }: IndexSettings): PrivateIndex => {
  const byId = new Map<number, PrivateRow>();
  let ordered: PrivateRow[] | undefined;
  let walk = notWalked;
  let version = 0;
  const changed = () => {
    ordered = undefined;
    version++;
    onRows();
  };
  const rows = () => (ordered ??= [...byId.values()].toSorted((a, b) => a.id - b.id));

  return {
    get: (id) => byId.get(id),
    rows,
    walk: () => walk,
    version: () => version,
    put({ id, shown, uploader = byId.get(id)?.uploader }) {
      const known = byId.get(id);
      const row = { id, shown, uploader };
      if (known !== undefined && isDeepStrictEqual({ shown: undefined, uploader: undefined, ...known }, row)) return;
      byId.set(id, row);
      changed();
      onFound({ rows: [row], gone: [] });
    },
    remove(id) {
      if (!byId.delete(id)) return;
      changed();
      onFound({ rows: [], gone: [id] });
    },
    walked(next) {
      walk = next;
      onFound({ rows: [], gone: [], walk });
    },
    snapshot: () => ({ rows: [...byId.values()], walk }),
    take(change, isWhole) {
      if (isWhole) byId.clear();
      for (const id of change.gone) byId.delete(id);
      for (const row of change.rows) byId.set(row.id, row);
      if (isWhole || change.walk !== undefined) walk = change.walk ?? notWalked;
      if (isWhole || change.gone.length > 0 || change.rows.length > 0) changed();
    },
    listableIds(beyond) {
      const { highest } = walk;
      const listed = openIdSet(walk.listed);
      const ids = [...byId.keys()];
      for (let id = 1; id <= highest + beyond; id++)
        if ((id > highest || listed.has(id)) && !byId.has(id)) ids.push(id);
      return ids;
    },
  };
};
