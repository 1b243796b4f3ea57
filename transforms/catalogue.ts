import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { get, type LegacyRequest, post } from "../src/catalogue/index.ts";
import { endpoints } from "./index.ts";
import { legacyErrors } from "./legacyErrors.ts";
import { legacyFormReads, legacyPaths, legacyWrites } from "./legacyInterface.ts";
import { opaqueReads } from "./opaqueReads.ts";

/** The catalogue that a gateway starts with: the endpoints, and the facts about the legacy interface. */
export const catalogue = {
  endpoints,
  module: import.meta.resolve(`./index${extname(import.meta.url)}`),
  errors: legacyErrors,
  legacyPaths,
  legacyWrites,
  opaqueReads,
  formReads: legacyFormReads,
  /** The file of the public reference implementation's ledger of expected differences. */
  expectedDifferences: fileURLToPath(new URL("./expectedDifferences.json", import.meta.url)),
  /** Harmless requests that show if legacy accepts a key: a short list, and a tag without a name or an entity. */
  keyProbes: { reads: get`/evaluationmeasure/list` as LegacyRequest, writes: post("/data/tag", {}) },
};
