import { type Answer, type Endpoint, type RowById, transform } from "../../src/catalogue/index.ts";
import type { PrivateRow } from "./scanResults.ts";

const [open, comma, close] = [Buffer.from("["), Buffer.from(","), Buffer.from("]")];

/** The page of rows, in rising order of their ids; `undefined` if it has no rows. */
export const pageOf = (
  listed: ReadonlyMap<number, Buffer>,
  { offset, limit }: Record<string, unknown>,
): Answer | undefined => {
  const from = Number(offset);
  const page = [...listed].toSorted(([a], [b]) => a - b).slice(from, from + Number(limit));
  if (page.length === 0) return undefined;
  return { status: 200, body: Buffer.concat([open, ...page.flatMap(([, row], i) => (i ? [comma, row] : row)), close]) };
};

/**
 * Makes the bytes of a row in a list, once for each row; `undefined` if legacy does not show it. `onUnfit` is called
 * with the places of a row that does not fit.
 */
export const listedRows = (
  output: Endpoint["output"],
  rowById: RowById,
  onUnfit: (id: number, places: string[]) => void,
): ((row: PrivateRow) => Buffer | undefined) => {
  const known = new WeakMap<PrivateRow, { bytes: Buffer | undefined }>();
  const write = ({ id, shown }: PrivateRow): Buffer | undefined => {
    if (shown === undefined) return undefined;
    const transformed = transform(output, rowById.document([shown]));
    if (transformed.ok) return Buffer.from(JSON.stringify((transformed.ours as unknown[])[0]));
    onUnfit(id, transformed.mismatch);
    return undefined;
  };
  return (row) => {
    const listed = known.get(row) ?? { bytes: write(row) };
    known.set(row, listed);
    return listed.bytes;
  };
};
