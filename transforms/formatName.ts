import { lowercase, type Rule } from "../src/catalogue/index.ts";

/** How uploaders of the two common formats spell them; legacy keeps any spelling. */
const spelled: Record<string, string> = { arff: "ARFF", sparse_arff: "Sparse_ARFF" };

/** The name of a format. */
export const formatName: Rule<string> = {
  ...lowercase,
  write: (ours) => (typeof ours === "string" ? (spelled[ours] ?? ours) : undefined),
};
