import type { CurlPair } from "../../../libraries/compare/curls.ts";
import type { NotCompared } from "../../../libraries/compare/results.ts";
import type {
  Classification,
  Difference,
  DifferenceForm,
  ResultCounts,
} from "../../../libraries/compare/difference.ts";

/** Numbers of answers: of compared answers by their result, of the others by the reason. */
export type Summary = ResultCounts & Record<NotCompared, number>;

/** A kind of difference at a path of an endpoint, over all answers. */
export type ReportedDifference = Omit<Difference, "at" | "count"> & {
  endpoint: string;
  /** The number of fields. */
  count: number;
  /** The number of answers that show it. */
  answers: number;
  curl: CurlPair;
};

/** The cause of differences: a rule, an entry of the ledger, or a kind of unexplained difference. */
export type Cause = {
  kind: Classification;
  name: string;
  fields: number;
  answers: number;
  endpoints: string[];
  curl: CurlPair;
};

/**
 * A line of two documents side by side. A line without values is an object or a list; its members follow, one level
 * deeper.
 */
export type Row = {
  depth: number;
  /** The field's name, or an index. */
  name: string;
  /** JSON, cut if it is long; `undefined` if that side has no value. */
  left?: string;
  right?: string;
  /** Only if the two differ: the form of the difference, its classification, and its rules. */
  form?: DifferenceForm;
  kind?: Classification;
  rules?: string[];
  /** The number of entries that are left out here: they show no new difference. */
  omitted?: number;
};

/** A whole answer: legacy's beside ours, or the expected answer beside the candidate's. */
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
 * The answers of an endpoint with the same two statuses. `from`: legacy's, or the expected status if there is a
 * candidate; `to`: the other's.
 */
export type StatusPair = { endpoint: string; from: number; to: number; answers: number };

/** The time that a side took to answer for an endpoint, in milliseconds. */
export type SideLatency = {
  endpoint: string;
  side: "legacy" | "candidate";
  p50: number;
  p95: number;
  /** The sum over all answers. */
  total: number;
};

/** A field of an endpoint, as the corpus has shown it. */
export type FieldReport = {
  endpoint: string;
  path: string;
  /** The place of the field at legacy, with dots between names. */
  legacyPath: string;
  /** The rules of this place, outermost first; empty if no rule reads this legacy field. */
  rules: string[];
  /** The types that the schema allows: `text`, `number`, `null` ... */
  declared: string[];
  /** The number of legacy documents in which the field could stand. */
  documents: number;
  /**
   * The counts of each variant seen: `none`, `null`, `empty`, `one`, `many`, `text`, `number`, `boolean`, `object`,
   * `list`.
   */
  seen: Record<string, number>;
  /** Variants that the rules expect here and that this corpus never showed. */
  never: string[];
  /** Up to three legacy values, cut if they are long. */
  examples: string[];
};

/** All findings of a run. */
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
  /** The reasons why answers could not be compared, by endpoint. */
  failures: { endpoint: string; kind: NotCompared; why: string; count: number; curl: CurlPair }[];
  examples: ExampleAnswer[];
  /** Every field that a rule reads: the coverage of this corpus. */
  coverage: FieldReport[];
  /** Legacy fields that no rule reads, and fields seen in a type that their rules do not expect. */
  schemaDrift: FieldReport[];
  /** Numbers of corpus lines that were not sent, by reason. */
  skipped: Record<string, number>;
};
