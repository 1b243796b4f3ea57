import { z } from "zod";
import type { PrivateRow } from "../../endpoint/privateRows.ts";

/** How far the search for such rows is. */
export type Walk = {
  /** Every unlisted id up to here has been looked at. */
  checkedUpTo: number;
  /** Of these, the ones under which there was nothing have been looked at again up to here. */
  recheckedUpTo?: number | undefined;
  /** The highest id that anything is known of. */
  highest: number;
  /**
   * The ids under which there was something when they were last asked for, listed to anybody or private: base64 of a bit an id, the lowest
   * first.
   */
  listed: string;
  /** When all of it had last been looked at, and when something last was; milliseconds since the epoch. */
  completedAt?: number | undefined;
  progressAt?: number | undefined;
};

/** All that is kept. */
export type Kept = { rows: PrivateRow[]; walk: Walk };

/** What is new: rows that came or changed, the ids of those that are private rows no more, and how far the search is. */
export type Change = { rows: PrivateRow[]; gone: number[]; walk?: Walk | undefined };

/** The ids of the rows that a change is about. */
export const idsOf = ({ rows, gone }: Change): number[] => [...rows.map(({ id }) => id), ...gone];

/** No catalogue of this kind has higher ids, and each costs a bit. */
export const MOST = 2 ** 24;

export const notWalked: Walk = { checkedUpTo: 0, highest: 0, listed: "" };

const id = z.int().min(1);
const count = z.int().min(0);

export const rowSchema = z.strictObject({
  id,
  shown: z.record(z.string(), z.json()).optional(),
  uploader: id.optional(),
});

export const walkSchema = z.strictObject({
  checkedUpTo: count,
  recheckedUpTo: count.optional(),
  highest: count,
  listed: z.base64(),
  completedAt: count.optional(),
  progressAt: count.optional(),
});
