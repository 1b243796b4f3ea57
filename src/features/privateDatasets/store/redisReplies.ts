import type { PrivateRow } from "../../../endpoint/privateRows.ts";
import { z } from "zod";
import { asTexts, readAs } from "../../sharedCache/texts.ts";
import { type Change, rowSchema, type Walk, walkSchema } from "../rows.ts";

/** Of what Redis has, what is ours; and the fields that are not, as they stand there. */
export type Reading = { change: Change; unreadable: string[] };

const text = z.string().nullable();
const partSchema = z.tuple([text, z.array(text)]);
const versionSchema = z.tuple([z.string()]).rest(z.unknown());
const changedSchema = z.tuple([z.string(), z.string()]).nullable();

/** The reply of `some`, and the last two of `read`: the walk, ids and rows by turns. */
export const readPart = (reply: unknown): Reading => {
  const [walkText, pairs] = partSchema.parse(asTexts(reply));
  const rows: PrivateRow[] = [];
  const gone: number[] = [];
  const unreadable: string[] = [];
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const [id, value] = [pairs[i] ?? "", pairs[i + 1] ?? null];
    const row = value === null ? undefined : readAs(rowSchema, value);
    if (value === null) gone.push(Number(id));
    else if (row === undefined || String(row.id) !== id) unreadable.push(id);
    else rows.push(row);
  }
  const walk: Walk | undefined = walkText === null ? undefined : readAs(walkSchema, walkText);
  if (walkText !== null && walk === undefined) unreadable.push("walk");
  return { change: { rows, gone, walk }, unreadable };
};

/** The reply of `read`; without a part where that is known already, or nothing is there. */
export const readVersion = (reply: unknown): { version: string; part: unknown } => {
  const [version, ...part] = versionSchema.parse(asTexts(reply));
  return { version, part: part.length === 0 ? undefined : part };
};

/** The reply of `change`. */
export const readChanged = (reply: unknown): { before: string; after: string } | undefined => {
  const versions = changedSchema.parse(asTexts(reply));
  return versions === null ? undefined : { before: versions[0], after: versions[1] };
};
