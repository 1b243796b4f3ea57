import type { Endpoint } from "../../endpoint/endpoint.ts";
import { transform } from "../../endpoint/transform.ts";
import { servingNote } from "../../rules/notes.ts";
import type { Json } from "../../rules/rule.ts";
import type { PrivateRow, PrivateRowsKnowledge } from "../../endpoint/privateRows.ts";

type AsListedSettings = {
  knowledge: PrivateRowsKnowledge;
  /** Whose rules make our rows of legacy's. */
  endpoint: Endpoint;
  /** Told once of a row that does not fit, and where. */
  onUnfit: (id: number, places: string[]) => void;
};

const note = servingNote(() => undefined);

/** A row as the endpoint lists it; `undefined` where it does not fit, or nothing is known of it. */
export const openAsListed = ({ knowledge, endpoint, onUnfit }: AsListedSettings) => {
  // Each is read once: a row that changes is another one.
  const known = new WeakMap<PrivateRow, { ours: Json | undefined }>();
  const read = ({ id, shown }: PrivateRow): Json | undefined => {
    if (shown === undefined) return undefined;
    const transformed = transform(endpoint.output, knowledge.document([shown]), note);
    if (transformed.ok) return (transformed.ours as Json[])[0];
    onUnfit(id, transformed.mismatch);
    return undefined;
  };
  return (row: PrivateRow): Json | undefined => {
    let one = known.get(row);
    if (one === undefined) known.set(row, (one = { ours: read(row) }));
    return one.ours;
  };
};
