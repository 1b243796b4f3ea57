import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { get, type LegacyRequest, post } from "../src/catalogue/endpoint/legacyRequest.ts";
import { legacyStudies } from "./getStudy.ts";
import { endpoints } from "./index.ts";
import { legacyErrors } from "./legacyErrors.ts";
import { legacyPaths, legacyReads, legacyRefusals, legacyWrites } from "./legacyInterface.ts";

/** All the knowledge the machine is started with. */
export const catalogue = {
  endpoints,
  module: import.meta.resolve(`./index${extname(import.meta.url)}`),
  errors: legacyErrors,
  legacyStudies,
  legacyPaths,
  legacyWrites: { writes: legacyWrites, reads: legacyReads, refusals: legacyRefusals },
  /** The file with how the public reference implementation is known to differ. */
  expectedDifferences: fileURLToPath(new URL("./expectedDifferences.json", import.meta.url)),
  /** Harmless questions that show what legacy thinks of a key: a short list, and a tag without a name on nothing. */
  keyProbes: { reads: get`/evaluationmeasure/list` as LegacyRequest, writes: post("/data/tag", {}) },
};
