import type { PrivateRow } from "../../endpoint/privateRows.ts";
import { isDeepStrictEqual } from "node:util";
import { type Change, type Kept, notWalked, type Walk } from "./rows.ts";

/** What is known of private rows, in memory. */
export type PrivateIndex = {
  get: (id: number) => PrivateRow | undefined;
  /** By id. */
  rows: () => readonly PrivateRow[];
  walk: () => Walk;
  /** Another number after every change of a row. */
  version: () => number;
  put: (row: PrivateRow) => void;
  remove: (id: number) => void;
  walked: (walk: Walk) => void;
  snapshot: () => Kept;
  /** What was kept, or what another instance has found out. */
  take: (change: Change, isWhole: boolean) => void;
};

export type IndexSettings = {
  /** Told of what was found out here. */
  onFound: (change: Change) => void;
  /** Told after every change of a row, whoever found it out. */
  onRows: () => void;
};

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

  return {
    get: (id) => byId.get(id),
    rows: () => (ordered ??= [...byId.values()].toSorted((a, b) => a.id - b.id)),
    walk: () => walk,
    version: () => version,
    put(found) {
      const known = byId.get(found.id);
      // Nothing takes a row from its uploader.
      const row = { ...found, uploader: found.uploader ?? known?.uploader };
      if (known !== undefined && isDeepStrictEqual(plain(known), plain(row))) return;
      byId.set(row.id, row);
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
  };
};

/** Without what is not there. */
const plain = ({ id, shown, uploader }: PrivateRow) => ({ id, shown, uploader });
