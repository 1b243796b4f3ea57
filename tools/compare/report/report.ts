import type { DifferenceForm } from "../../../libraries/compare/difference.ts";
import type { CurlPair } from "../../../libraries/compare/curls.ts";
import type { NotCompared } from "../../../libraries/compare/results.ts";
import type { Classification, Difference, ResultCounts } from "../../../libraries/compare/difference.ts";

/** Numbers of answers: of those that were compared, by their result, and of those that were not, by the reason. */
export type Summary = ResultCounts & Record<NotCompared, number>;

/** One kind of difference at one path of one endpoint, over all answers. */
export type ReportedDifference = Omit<Difference, "at" | "count"> & {
  endpoint: string;
  /** Fields. */
  count: number;
  /** Answers that show it. */
  answers: number;
  curl: CurlPair;
};

/** The cause of differences: a rule, an entry of the ledger, or one kind of unexplained difference. */
export type Cause = {
  kind: Classification;
  name: string;
  fields: number;
  answers: number;
  endpoints: string[];
  curl: CurlPair;
};

/**
 * One line of two documents side by side. A line without values is an object or a list; its members
 * follow, one level deeper.
 */
export type Row = {
  depth: number;
  /** The field's name, or an index. */
  name: string;
  /** JSON, cut if it is long; `undefined` where that side has no value. */
  left?: string;
  right?: string;
  /** Only where the two differ: how, how it is classified, and by which rules. */
  form?: DifferenceForm;
  kind?: Classification;
  rules?: string[];
  /** The number of entries that are left out here: they show no new difference. */
  omitted?: number;
};

/** One whole answer: legacy's beside ours, or the expected one beside the candidate's. */
export type ExampleAnswer = {
  endpoint: string;
  /** `GET /datasets/61`, with its body. */
  request: string;
  result: "equal" | Classification;
  left: { title: string; status?: number };
  right: { title: string; status?: number };
  rows: Row[];
  curl: CurlPair;
};

/**
 * Answers of one endpoint with the same two statuses. `from`: legacy's, or the expected one where there is a
 * candidate; `to`: the other's.
 */
export type StatusPair = { endpoint: string; from: number; to: number; answers: number };

/** How long one side took to answer for one endpoint, in milliseconds. */
export type SideLatency = {
  endpoint: string;
  side: "legacy" | "candidate";
  p50: number;
  p95: number;
  /** The sum over all answers. */
  total: number;
};

/** One field of one endpoint: what the corpus has shown of it. */
export type FieldReport = {
  endpoint: string;
  path: string;
  /** Where legacy has it, dots between names. */
  legacyPath: string;
  /** The rules of this place, outermost first; empty where no rule reads this legacy field. */
  rules: string[];
  /** The types that the schema allows: `text`, `number`, `null` ... */
  declared: string[];
  /** Legacy documents in which the field could stand. */
  documents: number;
  /**
   * How often each variant was seen: `none`, `null`, `empty`, `one`, `many`, `text`, `number`,
   * `boolean`, `object`, `list`.
   */
  seen: Record<string, number>;
  /** Variants that the rules expect here and that this corpus never showed. */
  never: string[];
  /** Up to three legacy values, cut if they are long. */
  examples: string[];
};

/** All that a run has found. */
export type Report = {
  /** ISO 8601. */
  made: string;
  sides: { legacy: string; candidate?: string };
  summary: Summary;
  endpoints: Record<string, Summary>;
  statuses: StatusPair[];
  latency: SideLatency[];
  /** Unexplained first, then by the number of answers. */
  differences: ReportedDifference[];
  causes: Cause[];
  /** Why answers could not be compared, by endpoint. */
  failures: { endpoint: string; kind: NotCompared; why: string; count: number; curl: CurlPair }[];
  examples: ExampleAnswer[];
  /** Every field that a rule reads: the coverage of this corpus. */
  coverage: FieldReport[];
  /** Legacy fields that no rule reads, and fields seen in a type that their rules do not expect. */
  schemaDrift: FieldReport[];
  /** Numbers of corpus lines that were not sent, by reason. */
  skipped: Record<string, number>;
};
