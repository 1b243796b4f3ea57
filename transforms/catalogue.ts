import { get, type LegacyRequest, post } from "../src/endpoint/legacyRequest.ts";
import { legacyStudies } from "./getStudy.ts";
import { endpoints } from "./index.ts";
import { legacyErrors } from "./legacyErrors.ts";

/** All the knowledge the machine is started with. */
export const catalogue = {
  endpoints,
  errors: legacyErrors,
  legacyStudies,
  /** Harmless questions that show what legacy thinks of a key: a short list, and a tag without a name on nothing. */
  keyProbes: { reads: get`/evaluationmeasure/list` as LegacyRequest, writes: post("/data/tag", {}) },
};
