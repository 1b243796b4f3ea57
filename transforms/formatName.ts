import { type Json, lowercase, type Rule } from "../src/catalogue/index.ts";

/** The usual spelling of the two common formats. Legacy stores the spelling of the uploader. */
const spelled = new Map<Json, string>([
  ["arff", "ARFF"],
  ["sparse_arff", "Sparse_ARFF"],
]);

/** The name of a dataset's format. */
export const formatName: Rule<string> = { ...lowercase, write: (ours) => spelled.get(ours) ?? ours };
