import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import { resultOf, zeroCounts } from "../../libraries/compare/difference.ts";
import type { ComparisonOutcome } from "./compareOne.ts";
import type { SeenFields } from "./fields.ts";
import type { SideLatency, StatusPair, Summary } from "./report/report.ts";

/** Counts before the first answer. */
export const zeroSummary = (): Summary => ({ ...zeroCounts(), unreadable: 0, failed: 0 });

/** The counts of the answers of an endpoint. */
export class EndpointCounts {
  readonly summary = zeroSummary();
  /** The fields seen; the caller adds to them. */
  readonly fields: SeenFields = new Map();
  readonly #endpoint: string;
  /** The answers of each pair of statuses (`412 404`). */
  readonly #statuses = new Map<string, StatusPair>();
  readonly #times = { legacy: openTimes(), candidate: openTimes() };

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  add(outcome: ComparisonOutcome): void {
    if (outcome.differences === undefined) {
      this.summary[outcome.notCompared]++;
      return;
    }
    this.summary.compared++;
    this.summary[resultOf(outcome.differences)]++;
    if (outcome.answers === undefined) return;
    const { statuses, ms } = outcome.answers;
    const [from, to] = statuses;
    const pair = this.#statuses.get(`${from} ${to}`) ?? { endpoint: this.#endpoint, from, to, answers: 0 };
    this.#statuses.set(`${from} ${to}`, pair);
    pair.answers++;
    for (const side of ["legacy", "candidate"] as const) {
      const taken = ms[side];
      if (taken !== undefined) this.#times[side].record(Math.max(1, Math.round(Math.min(taken * 1000, HOUR))));
    }
  }

  /** The pairs of statuses, the most frequent first. */
  statuses(): StatusPair[] {
    return [...this.#statuses.values()].toSorted((a, b) => b.answers - a.answers);
  }

  /** The times of each side that got a request. */
  latency(): SideLatency[] {
    return (["legacy", "candidate"] as const).flatMap((side) => {
      const times = this.#times[side];
      const [p50, p95] = [times.percentile(50) / 1000, times.percentile(95) / 1000];
      const total = (times.mean * times.count) / 1000;
      return times.count === 0 ? [] : [{ endpoint: this.#endpoint, side, p50, p95, total }];
    });
  }
}

/** Microseconds. */
const HOUR = 3_600_000_000;

/** Counts durations in microseconds, to within one percent. */
const openTimes = (): RecordableHistogram => createHistogram({ highest: HOUR, figures: 2 });
