import { fileURLToPath } from "node:url";
import { versionsOf } from "../src/endpoint/version.ts";
import { get, type LegacyRequest, post } from "../src/endpoint/legacyRequest.ts";
import { legacyStudies } from "./getStudy.ts";
import { endpoints } from "./index.ts";
import { legacyErrors } from "./legacyErrors.ts";
import { legacyPaths, legacyReads, legacyRefusals, legacyWrites } from "./legacyInterface.ts";
import { privateDatasets } from "./privateDatasets.ts";

/** All that the gateway knows of the catalogue and of legacy. */
export const catalogue = {
  endpoints,
  module: new URL("./index.ts", import.meta.url).href,
  errors: legacyErrors,
  legacyStudies,
  legacyPaths,
  passing: { writes: legacyWrites, reads: legacyReads, refusals: legacyRefusals },
  privateRows: privateDatasets,
  /** The file with the expected differences of the public reference implementation. */
  expectedDifferences: fileURLToPath(new URL("./expectedDifferences.json", import.meta.url)),
  versions: versionsOf(Object.keys(endpoints), new URL(".//", import.meta.url)),
  /** Harmless requests that show whether legacy accepts a key: a short list, and a tag without a name. */
  keyProbes: { reads: get`/evaluationmeasure/list` as LegacyRequest, writes: post("/data/tag", {}) },
};
