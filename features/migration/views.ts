import type { Json } from "../../src/catalogue/index.ts";
import type { ResultCounts, Classification, Difference } from "../../libraries/compare/difference.ts";
import type { CurlPair } from "../../libraries/compare/curls.ts";
import type { Gate, StageInForce } from "./stage.ts";

/** Distinct requests by their latest result. `lower`: the lower Wilson bound of the good share of them. */
export type Parity = ResultCounts & { lower: number };

/** Milliseconds; `undefined` if the side received no request. */
export type Latency = { p50: number; p95: number } | undefined;

/** One endpoint, as `GET /stages` and the page show it. */
export type StageView = Omit<StageInForce, "configured"> & {
  /**
   * Of all gateways, since the endpoint's definition or `MODERN_URL` changed. Neither a restart nor a move empties it.
   */
  parity: Parity;
  /** Since the endpoint's last move or this gateway's start: the gate looks at this. */
  parityInStage: Parity;
  /** The bounds by which it moves automatically, from `STAGES`. */
  gate?: Gate | undefined;
  /** Since when callers may get wrong answers (ISO 8601): modern answers some callers, and differs without a reason. */
  wrongSince?: string | undefined;
  /** The objection to a step towards modern: such a move needs a reason `despite`. */
  against?: string;
  /** Its stage before the last move of many endpoints, if it was part of that and has not moved since. */
  former?: Pick<StageInForce, "stage" | "share">;
  /** The stage that Redis has lost, if the endpoint has not moved since. */
  lost?: Pick<StageInForce, "stage" | "share"> | undefined;
  /**
   * Of the last five minutes: requests, also a second, those with a 5xx, and the share (0-1) that the cache answered;
   * absent without a request.
   */
  requests: number;
  rate: number;
  serverErrors: number;
  hitRatio?: number | undefined;
  /** Of the last 200 answers of each side. */
  latency: { legacy: Latency; modern: Latency };
  /** The share (0-1) of requests to modern that failed, were too slow or got an answer that does not fit. */
  errorRate: number;
  /** The gate's reason to promote now, or not to; absent without a gate. */
  gateSays?: string | undefined;
  /** Requests of this canary, if all of its callers fall into one bucket: its share then moves all of them or none. */
  oneBucket?: number | undefined;
  /** True if modern is worse than the gate allows; absent without a gate. */
  isGateFailing?: boolean | undefined;
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
  form: Difference["form"];
  rule?: string;
  entry?: string;
  cause: string;
  /**
   * Distinct requests that show it: of the latest 5000 of the endpoint that differed in this gateway since its start.
   */
  requests: number;
  /** Those that show the same cause, at any path of any endpoint. */
  causeRequests: number;
  samples: DifferenceSample[];
};
