import type { Json } from "../../rules/rule.ts";
import type { ResultCounts, DifferenceKind, Classification } from "../../compare/difference.ts";
import type { CurlPair } from "../../compare/report.ts";
import type { StageInForce } from "./stage.ts";

/** What has been compared since the endpoint last moved: each answer once, by its worst difference. `lower`: the lower Wilson bound of the share that is as it should be. */
export type Parity = ResultCounts & { lower: number };

/** Milliseconds; `undefined` where nothing was asked of that side. */
export type Latency = { p50: number; p95: number } | undefined;

/** One endpoint, as `GET /stages` and the page show it. */
export type StageView = StageInForce & {
  parity: Parity;
  /** Requests a second over the last minute, and the share of them that was kept (0-1). */
  rate: number;
  hitRatio: number;
  latency: { legacy: Latency; modern: Latency };
  /** Of what was asked of modern: the share that failed, was too slow or did not fit. */
  errorRate: number;
  /** Requests in each of the last 60 half-minutes, the oldest first. */
  spark: number[];
  /** Why the gate does not promote now, or what it did last; absent without a gate. */
  gateSays?: string;
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
  /** Fields, and answers that show it. */
  count: number;
  answers: number;
  samples: DifferenceSample[];
};
