import type { DifferenceResult } from "./difference.ts";

/** The results of a comparison, the most harmless first; each has a sign that needs no colour. */
export const comparisonResults = {
  equal: { sign: "=", means: "the same as before" },
  explained: { sign: "✓", means: "made by a named rule" },
  expected: { sign: "§", means: "allowed by the ledger" },
  drift: { sign: "≈", means: "gone when asked again" },
  unexplained: { sign: "?", means: "without a reason" },
  unreadable: { sign: "!", means: "not compared: legacy's answer can be read in no format" },
  failed: { sign: "×", means: "not compared: one side gave no answer" },
} as const satisfies Record<DifferenceResult | NotCompared, { sign: string; means: string }>;

/** The reason why an answer was not compared: legacy's is readable in no format, or one side did not answer. */
export type NotCompared = "unreadable" | "failed";

export type ResultName = keyof typeof comparisonResults;

/** All results, in their order. */
export const resultNames = Object.keys(comparisonResults) as ResultName[];

/** A difference's path as people read it. */
export const formatPath = (path: string): string => (path === "" ? "the whole answer" : path);
