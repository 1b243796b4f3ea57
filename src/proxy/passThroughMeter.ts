import type { Meter } from "../telemetry/meter.ts";
import type { CounterChild } from "../telemetry/series.ts";
import type { Trouble } from "./refuse.ts";

/** Counts proxied requests. */
export type PassThroughMeter = {
  /** Bytes of bodies, from and to clients. */
  readonly received: CounterChild;
  readonly sent: CounterChild;
  /** The upstream has begun an answer with this status. */
  answered(status: number): void;
  /** A request is over after so many milliseconds, its whole answer sent or `trouble` with it. */
  over(ms: number, trouble?: Trouble): void;
};

const troubles: readonly Trouble[] = [
  ...(["unreachable", "timeout", "overloaded", "broken", "tooLarge", "crowded", "aborted"] as const),
  ...(["loop", "badRequest", "slowClient"] as const),
];
const commonStatuses = new Set(
  "200 201 204 206 301 302 304 400 401 403 404 405 409 412 413 416 429 500 502 503 504 other".split(" "),
);

/** `slowClient` -> `slow_client`. */
const labelOf = (trouble: Trouble): string => trouble.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Registers the metrics of proxied requests. */
export const openPassThroughMeter = (meter: Pick<Meter, "counter" | "histogram">): PassThroughMeter => {
  const requests = meter.counter("pass_through_requests_total", "Answers of legacy that passed through.", ["status"]);
  const failures = meter.counter("pass_through_failures_total", "Proxied requests without a whole answer of legacy.", [
    "reason",
  ]);
  const bytes = meter.counter("pass_through_bytes_total", "Bytes of the bodies of proxied requests and answers.", [
    "direction",
  ]);
  const took = meter.histogram(
    "pass_through_duration_seconds",
    "From a proxied request's arrival to the end of its answer.",
  )();
  for (const status of commonStatuses) requests(status);
  for (const trouble of troubles) failures(labelOf(trouble));
  return {
    received: bytes("request"),
    sent: bytes("response"),
    // The upstream chooses the status.
    answered: (status) => void requests(commonStatuses.has(String(status)) ? String(status) : "other").value++,
    over(ms, trouble) {
      took.observe(ms / 1000);
      if (trouble !== undefined) failures(labelOf(trouble)).value++;
    },
  };
};
