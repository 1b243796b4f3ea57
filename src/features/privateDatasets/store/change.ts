import { type Change, idsOf } from "../rows.ts";

/** Two changes as one; the newer is right. */
export const merged = (older: Change, newer: Change): Change => {
  const rows = new Map([...older.rows, ...newer.rows].map((row) => [row.id, row]));
  const gone = new Set([...older.gone, ...newer.gone]);
  for (const id of newer.gone) rows.delete(id);
  for (const { id } of newer.rows) gone.delete(id);
  return { rows: [...rows.values()], gone: [...gone], walk: newer.walk ?? older.walk };
};

/** A change without what another one says anything of. */
export const without = (change: Change, other: Change): Change => {
  const ids = new Set(idsOf(other));
  return {
    rows: change.rows.filter(({ id }) => !ids.has(id)),
    gone: change.gone.filter((id) => !ids.has(id)),
    walk: other.walk === undefined ? change.walk : undefined,
  };
};

export const isNothing = (change: Change): boolean => idsOf(change).length === 0 && change.walk === undefined;
