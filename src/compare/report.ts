import type { ResultCounts, Difference, DifferenceKind, Classification } from "./difference.ts";

/** What was compared; `failed` are those that one side gave no answer for. */
export type Summary = ResultCounts & { failed: number };

/** The same question as a command for either side; a key stands as the environment variable that holds it. */
export type CurlPair = { legacy?: string; candidate: string };

/** One form of difference at one path of one endpoint, over all answers. */
export type ReportedDifference = Omit<Difference, "at" | "count"> & {
  endpoint: string;
  /** Fields. */
  count: number;
  /** Answers that show it. */
  answers: number;
  curl: CurlPair;
};

/** What lies behind differences: one rule, one ledger entry, or one form of unexplained difference; those that explain the most first. */
export type Cause = {
  kind: Classification;
  name: string;
  fields: number;
  answers: number;
  endpoints: string[];
  curl: CurlPair;
};

/** One line of two documents beside each other; a line without either side stands for an object or a list, whose members follow, one level deeper. */
export type Row = {
  depth: number;
  /** The field's name, or an index. */
  name: string;
  /** JSON, cut where it is long; absent where that side has nothing there. */
  left?: string;
  right?: string;
  /** Where the two differ: how, what it means, and by which rules. */
  form?: DifferenceKind;
  kind?: Classification;
  rules?: string[];
  /** Entries left out here because they show nothing new. */
  omitted?: number;
};

/** One answer shown whole: legacy's beside ours, or the expected one beside the candidate's. */
export type ExampleAnswer = {
  endpoint: string;
  question: string;
  result: "equal" | Classification;
  left: { title: string; status?: number };
  right: { title: string; status?: number };
  rows: Row[];
  curl: CurlPair;
};

/** One field of one endpoint: what the corpus has shown of it. */
export type FieldReport = {
  endpoint: string;
  path: string;
  /** Where legacy has it, dots between names. */
  legacyPath: string;
  /** The rules that meet there, outermost first; none: no rule reads this legacy field. */
  rules: string[];
  /** The types that the schema allows: `text`, `number`, `null` ... */
  declared: string[];
  /** Legacy documents that had a place for it. */
  documents: number;
  /** How often each variant was seen: `none`, `null`, `empty`, `one`, `many`, `text`, `number`, `boolean`, `object`, `list`. */
  seen: Record<string, number>;
  /** Variants that legacy is known or allowed to send here and that this corpus never showed. */
  never: string[];
  /** A few legacy values, cut. */
  examples: string[];
};

export type Report = {
  /** ISO 8601. */
  made: string;
  sides: { legacy: string; candidate?: string };
  summary: Summary;
  endpoints: Record<string, Summary>;
  /** Unexplained first, then by the number of answers. */
  differences: ReportedDifference[];
  causes: Cause[];
  /** Why answers could not be compared, by endpoint. */
  failures: { endpoint: string; why: string; count: number; curl: CurlPair }[];
  examples: ExampleAnswer[];
  /** Every field that a rule reads: the coverage of this corpus. */
  coverage: FieldReport[];
  /** Legacy fields that no rule reads, and fields seen in a type that no rule of theirs turns into a declared one. */
  schemaDrift: FieldReport[];
  /** Lines of the corpus that were not asked, by reason. */
  skipped: Record<string, number>;
};
