import type { Endpoint, RowApart } from "../../endpoint/endpoint.ts";
import { transform } from "../../endpoint/transform.ts";
import { servingNote } from "../../rules/notes.ts";
import type { PrivateRow } from "./found.ts";

const note = servingNote(() => undefined);

/** Makes a row of the list as bytes, once for each; `undefined` if legacy does not show it. `onUnfit` is called with the places of a row that does not fit. */
export const openListedRows = (
  output: Endpoint["output"],
  apart: RowApart,
  onUnfit: (id: number, places: string[]) => void,
): ((row: PrivateRow) => Buffer | undefined) => {
  const known = new WeakMap<PrivateRow, { bytes: Buffer | undefined }>();
  const write = ({ id, shown }: PrivateRow): Buffer | undefined => {
    if (shown === undefined) return undefined;
    const transformed = transform(output, apart.document([shown]), note);
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
