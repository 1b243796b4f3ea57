import type { Endpoint } from "../endpoint/endpoint.ts";
import type { LegacyPaths } from "../endpoint/legacyPaths.ts";
import type { LegacyWriteKnowledge } from "../endpoint/legacyWrites.ts";
import type { ErrorTable } from "../legacy/legacyOutcome.ts";
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
  /** By endpoint: changes when what it answers may change. */
  versions: Readonly<Record<string, string>>;
  /** The URL of the module that exports the same `endpoints`, for the threads that read large answers; without it they are read in this one. */
  module?: string;
  /** The path of the ledger of expected differences that ships. */
  expectedDifferences: string;
};
