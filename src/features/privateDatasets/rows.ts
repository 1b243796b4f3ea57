import { z } from "zod";

const id = z.int().min(1);
const count = z.int().min(0);

/**
 * A row that legacy lists to its owner only. `shown`: its members as legacy lists them; absent if legacy does not show it. `uploader`: its
 * owner's id, if it is known.
 */
export const rowSchema = z.strictObject({
  id,
  shown: z.record(z.string(), z.json()).optional(),
  uploader: id.optional(),
});

/** The progress of the scan for such rows. Times are milliseconds since the epoch. */
export const walkSchema = z.strictObject({
  /** Every id up to here that is not listed publicly has been read. */
  checkedUpTo: count,
  /** Those of them that had nothing have been read again up to here. */
  recheckedUpTo: count.optional(),
  /** The highest id that is known. */
  highest: count,
  /** The ids that had something when they were last read, listed publicly or private: an `IdSet` as text. */
  listed: z.base64(),
  /** When the last scan was completed, and when the last id was read. */
  completedAt: count.optional(),
  progressAt: count.optional(),
});

/** A private row. */
export type PrivateRow = z.infer<typeof rowSchema>;

/** The scan's progress. */
export type Walk = z.infer<typeof walkSchema>;

/** All that is stored. */
export type Kept = { rows: PrivateRow[]; walk: Walk };

/** A change: found or changed rows, the ids of rows that are not private any more, and the scan's progress. */
export type Change = { rows: PrivateRow[]; gone: number[]; walk?: Walk | undefined };

/** The ids of the rows that a change is about. */
export const idsOf = ({ rows, gone }: Change): number[] => [...rows.map((row) => row.id), ...gone];

/** The highest id that is accepted: each id takes a bit. */
export const MAX_ID = 2 ** 24;

/** The progress before the first scan. */
export const notWalked: Walk = { checkedUpTo: 0, highest: 0, listed: "" };

/** A set of ids that takes a bit for each. */
export type IdSet = ReturnType<typeof openIdSet>;

/** Opens the set of all ids that are in one of these texts. */
export const openIdSet = (...texts: string[]) => {
  const [first = Buffer.alloc(0), ...others] = texts
    .map((text) => Buffer.from(text, "base64"))
    .toSorted((a, b) => b.length - a.length);
  let bytes = first;
  for (const other of others) for (const [i, byte] of other.entries()) bytes[i] = (bytes[i] ?? 0) | byte;
  return {
    has: (n: number): boolean => ((bytes[n >> 3] ?? 0) & (1 << (n & 7))) !== 0,
    add(n: number): void {
      const at = n >> 3;
      if (at >= bytes.length)
        bytes = Buffer.concat([bytes, Buffer.alloc(Math.max(at + 1 - bytes.length, bytes.length))]);
      bytes[at] = (bytes[at] ?? 0) | (1 << (n & 7));
    },
    /** The bits in base64, the lowest first. */
    toText: (): string => bytes.toString("base64"),
  };
};
