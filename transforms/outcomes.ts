import type { Outcome } from "../src/catalogue/index.ts";

/** If legacy has a lower limit than ours, the client gets the same answer as for our limit: an error at the field. */
export const limitTooHigh: Outcome = {
  kind: "refused",
  message: "Requested result limit too high.",
  errors: [{ loc: ["body", "limit"], msg: "Requested result limit too high.", type: "value_error.number.not_le" }],
};
export const unknownFlow: Outcome = { kind: "notFound", message: "Flow not found." };
export const legacyStudy: Outcome = { kind: "gone", message: "Legacy studies are no longer supported." };
