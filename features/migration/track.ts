import { type Difference, type ResultCounts, resultOf } from "../../libraries/compare/difference.ts";
import { monotonic, openRecentTimes, RECENT_TIMES } from "../../src/operation/index.ts";
import type { ComparedRequests } from "./comparedRequests.ts";
import { type Evidence, type Parity, wilson } from "./gate.ts";
import type { StageInForce } from "./stage.ts";

/** Requests of a canary after which callers of one bucket alone are worth a warning. */
const MANY_CALLS = 100;

/** The measurements of one endpoint: how its sides answer, and how well they agree. */
export class Track {
  readonly #requests: ComparedRequests;
  readonly #isWrite: boolean;
  readonly #startedAt = Date.now();
  readonly #openedAt = performance.now();
  /** The time of the last move on the clock of `performance.now()`; `undefined` until it is known. */
  #movedAt: number | undefined;
  readonly #times = { legacy: openRecentTimes(), modern: openRecentTimes() };
  /** 1 for each of the last requests to modern that failed, else 0. */
  readonly #failures: number[] = [];
  /** 1 for each of the last comparisons without an unexplained difference, else 0. */
  readonly #results: number[] = [];
  /** The counts of modern's answers in the latest minute, and the minutes before it in which most of them failed. */
  #minute = { at: 0, answers: 0, failed: 0 };
  #failedMinutes = 0;
  /** Requests of a canary, and their buckets. */
  #calls = 0;
  readonly #buckets = new Set<number>();

  /** `requests`: the compared requests of the endpoint. */
  constructor(requests: ComparedRequests, isWrite = false) {
    this.#requests = requests;
    this.#isWrite = isWrite;
  }

  /** Records that a side has answered after `ms` milliseconds, or failed. */
  asked(side: "legacy" | "modern", ms: number, failed: boolean): void {
    if (side === "modern") {
      addRecent(this.#failures, failed ? 1 : 0);
      this.#countInMinute(failed);
    }
    if (!failed) this.#times[side].add(ms);
  }

  #countInMinute(failed: boolean): void {
    const at = Math.floor(performance.now() / 60_000);
    if (at !== this.#minute.at) {
      if (hasFailed(this.#minute)) this.#failedMinutes++;
      this.#minute = { at, answers: 0, failed: 0 };
    }
    this.#minute.answers++;
    if (failed) this.#minute.failed++;
  }

  /** Records a comparison of both sides on one request, identified by `id`. */
  compared(id: string, differences: readonly Difference[]): void {
    const result = resultOf(differences);
    this.#requests.add(id, result);
    if (result !== "drift") addRecent(this.#results, result === "unexplained" ? 0 : 1);
  }

  /**
   * Counts a request of a canary from a caller in this bucket (0-99). True only for the request with which
   * `oneBucket` begins to give a number.
   */
  calledFrom(bucket: number): boolean {
    this.#calls++;
    this.#buckets.add(bucket);
    return this.#calls === MANY_CALLS && this.#buckets.size === 1;
  }

  /** The number of such requests since the endpoint's last move, if there are many and all from one bucket. */
  oneBucket(): number | undefined {
    return this.#calls >= MANY_CALLS && this.#buckets.size === 1 ? this.#calls : undefined;
  }

  /** Resets the evidence for the gate after a move of the endpoint. */
  moved(): void {
    this.#movedAt = performance.now();
    this.#calls = 0;
    this.#buckets.clear();
    this.#failedMinutes = 0;
    this.#minute = { at: 0, answers: 0, failed: 0 };
    this.#times.modern = openRecentTimes();
    for (const list of [this.#results, this.#failures]) list.length = 0;
  }

  /** The parity since the endpoint's last move. */
  parityInStage(at: StageInForce): Parity {
    return parityOf(this.#countsInStage(at));
  }

  /**
   * Since when callers of this stage may have got unexplained differences (ISO 8601); `undefined` if there are no
   * such differences.
   */
  differsSince(at: StageInForce): string | undefined {
    const since = Math.max(this.#requests.differsSince(), Date.parse(at.since));
    return since === Infinity ? undefined : new Date(since).toISOString();
  }

  /** Of a side's last 200 answers, in milliseconds; `undefined` if the side received no request. */
  latency(side: "legacy" | "modern"): { p50: number; p95: number } | undefined {
    const [p50, p95] = [this.#times[side].quantile(0.5), this.#times[side].quantile(0.95)];
    return p50 === undefined || p95 === undefined ? undefined : { p50, p95 };
  }

  /** The share (0-1) of the last requests to modern that failed, were too slow or got an answer that does not fit. */
  errorRate(): number {
    return sum(this.#failures) / Math.max(1, this.#failures.length);
  }

  /** The evidence for and against a move from this stage. */
  evidence(at: StageInForce): Evidence {
    return {
      isWrite: this.#isWrite,
      all: parityOf(this.#requests.counts()),
      ...evidenceOf(this.#countsInStage(at)),
      minutes: minutesSince(Math.max(this.#openedAt, this.#moveOf(at))),
      recent: { good: sum(this.#results), conclusive: this.#results.length },
      modern: { asked: this.#failures.length, failed: sum(this.#failures), times: this.#times.modern.values() },
      unexplained: this.#requests.counts(Date.parse(at.since)).unexplained,
      failedMinutes: this.#failedMinutes + (hasFailed(this.#minute) ? 1 : 0),
      // A gate moves an endpoint to shadow only downwards. A hold does not end with a restart, nor begin
      // again in another gateway.
      ...(at.by === "gate" && at.stage === "shadow" ? { sinceDemotion: minutesSince(this.#moveOf(at)) } : {}),
    };
  }

  /** The requests compared since the endpoint's last move or this gateway's start. */
  #countsInStage({ since }: StageInForce): ResultCounts {
    return this.#requests.counts(Math.max(this.#startedAt, Date.parse(since)));
  }

  /**
   * The time of the last move on the clock of `performance.now()`; this gateway's start if that lies in the future.
   */
  #moveOf({ since }: StageInForce): number {
    return (this.#movedAt ??= monotonic.fromStored(Date.parse(since)) ?? this.#openedAt);
  }
}

/** Minutes since a time of `performance.now()`. */
const minutesSince = (time: number): number => (performance.now() - time) / 60_000;

/** The least number of answers by which a minute counts as failed. */
const MIN_ANSWERS = 3;

const hasFailed = ({ answers, failed }: { answers: number; failed: number }): boolean =>
  answers >= MIN_ANSWERS && failed > answers / 2;

// Drift is a change between two requests, not evidence on either side.
const evidenceOf = ({
  compared,
  drift,
  unexplained,
}: ResultCounts): Pick<Evidence, "requests" | "good" | "conclusive"> => ({
  requests: compared,
  good: compared - drift - unexplained,
  conclusive: compared - drift,
});

const parityOf = (counts: ResultCounts): Parity => {
  const { good, conclusive } = evidenceOf(counts);
  return { ...counts, lower: wilson(good, conclusive).lower };
};

const addRecent = (values: number[], value: number): void => {
  values.push(value);
  if (values.length > RECENT_TIMES) values.shift();
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
