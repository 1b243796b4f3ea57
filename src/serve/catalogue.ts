import type { Endpoint } from "../endpoint/endpoint.ts";
import type { LegacyPaths, LegacyWriteKnowledge } from "../endpoint/legacyInterface.ts";
import type { ErrorTable } from "../legacy/reading.ts";
import type { KeyProbes } from "./keys.ts";

/** What is known of one legacy interface and of what replaces it. */
export type Catalogue = {
  endpoints: Record<string, Endpoint>;
  errors: ErrorTable;
  keyProbes: KeyProbes;
  legacyStudies: readonly number[];
  /** The paths under which the legacy interface answers, and writes. */
  legacyPaths: LegacyPaths;
  /** What is written, and only read, through the legacy interface itself. */
  passing: LegacyWriteKnowledge;
  /** The URL of the module that exports the same `endpoints`, for the threads that read large answers; without it they are read in this one. */
  module?: string;
  /** The path of the ledger of expected differences that ships. */
  expectedDifferences: string;
};
