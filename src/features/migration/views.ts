import type { Json } from "../../rules/rule.ts";
import type { ResultCounts, DifferenceKind, Classification } from "../../compare/difference.ts";
import type { CurlPair } from "../../compare/report.ts";
import type { StageInForce } from "./stage.ts";

/** Distinct requests by the result of their comparisons. `lower`: the lower Wilson bound of the good share of them. */
export type Parity = ResultCounts & { comparisons: number; lower: number };

/** Milliseconds; `undefined` if that side received no request. */
export type Latency = { p50: number; p95: number } | undefined;

/** One endpoint, as `GET /stages` and the page show it. */
export type StageView = StageInForce & {
  /** Since the start: an endpoint's definition and `MODERN_URL` change by a restart only. A move does not empty it. */
  parity: Parity;
  /** Since the endpoint moved last, which is what its gate looks at. */
  parityInStage: Parity;
  /** What speaks against a step towards modern: such a move needs a reason `despite`. */
  against?: string;
  /** Where it was until everything went back to legacy, if it has not moved since. */
  former?: Pick<StageInForce, "stage" | "share">;
  /** Requests a second over the last minute, and the share of them (0-1) that the cache answered. */
  rate: number;
  hitRatio: number;
  latency: { legacy: Latency; modern: Latency };
  /** The share (0-1) of requests to modern that failed, were too slow or got an answer that does not fit. */
  errorRate: number;
  /** Requests in each of the last 60 half-minutes, the oldest first. */
  spark: number[];
  /** Why the gate does not promote now, or its last move, and whether modern is not as good as it asks; absent without a gate. */
  gateSays?: string;
  /** Requests of this canary, if all of its callers fall into one bucket: its share then moves all of them or none. */
  oneBucket?: number;
  isGateFailing?: boolean;
};

/** `GET /stages`, by the endpoint's name. */
export type StagesView = Record<string, StageView>;

/** One difference seen in live traffic, scrubbed. */
export type DifferenceSample = {
  /** ISO 8601. */
  at: string;
  /** `GET /datasets/61` */
  question: string;
  legacy?: Json;
  expected?: Json;
  candidate?: Json;
  curl: CurlPair;
};

/** One line of `GET /differences`, the root causes first. */
export type DifferenceView = {
  endpoint: string;
  path: string;
  kind: Classification;
  form: DifferenceKind;
  rule?: string;
  entry?: string;
  cause: string;
  /** Fields that differ, and answers that show it. */
  count: number;
  answers: number;
  samples: DifferenceSample[];
};
