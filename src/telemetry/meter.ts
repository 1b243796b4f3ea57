import type { Counter, Gauge, Registry } from "prom-client";
import type { CacheStatus } from "../cache/reply.ts";
import * as metrics from "./promClient.ts";

/** Counts what happens, for `/metrics`. Labels are names of ours: never a key, a path or a value. */
export type Meter = {
  registry: Registry;
  /** The front answered from memory. */
  countHit: (endpoint: string, status: number, bytes: number) => void;
  /** The router answered, in so many milliseconds. */
  countAnswer: (endpoint: string, status: number, how: CacheStatus, ms: number, bytes: number) => void;
  /** Legacy was asked, and answered or not, in so many milliseconds. */
  countUpstreamCall: (failed: boolean, ms: number) => void;
  passedThrough: (status: number) => void;
  /** A side answered, for this reason. */
  decided: (endpoint: string, backend: string, reason: string) => void;
  /** Both sides' answers to one request were compared, with this result. */
  compared: (endpoint: string, standing: string) => void;
  /** An answer may lack private rows that its caller may see. */
  incomplete: () => void;
  cache: (what: string, endpoint: string) => void;
  shared: (call: string, result: string) => void;
  /** A value that is looked up when the metrics are read. */
  gauge: (name: string, help: string, value: () => number) => void;
  /** The same, of what only grows. */
  total: (name: string, help: string, value: () => number) => void;
};

/** The metric's kind for a cache status. */
const kindOf = ({ hit, fwd, collapsed, detail }: CacheStatus): string => {
  if (detail === "stale-if-error") return "stale_if_error";
  if (hit) return detail === undefined ? "hit" : "stale";
  if (collapsed) return "collapsed";
  if (fwd === "uri-miss") return "miss";
  return fwd === "stale" || fwd === "request" ? "revalidated" : "uncached";
};

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** `events`: how often each event of the log happened, by `name endpoint`. */
export const openMeter = (events: () => Record<string, number>): Meter => {
  const registry = new metrics.Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new metrics.Counter({ name: `gateway_${name}`, help, labelNames, registers });

  const requests = counter("requests_total", "Answers of the new interface.", "endpoint", "status");
  const kinds = counter("cache_answers_total", "The same, by how they came about.", "endpoint", "kind");
  const sent = counter("sent_bytes_total", "Bytes of their bodies.");
  const upstream = counter("upstream_calls_total", "Requests to legacy for the new interface.", "result");
  const passed = counter("passed_through_total", "Answers of legacy that passed through.", "status");
  const decisions = counter(
    "backend_answers_total",
    "Answers by the side that made them.",
    "endpoint",
    "backend",
    "reason",
  );
  const comparisons = counter(
    "compared_total",
    "Answers compared on both sides, by their worst difference.",
    "endpoint",
    "kind",
  );
  const incomplete = counter("private_incomplete_total", "Answers with private=incomplete.");
  const cacheEvents = counter("cache_events_total", "What the cache did beside answering.", "event", "endpoint");
  const sharedCalls = counter("shared_tier_calls_total", "Requests to the shared tier.", "call", "result");
  countEvents(events, registers);
  const durations = new metrics.Histogram({
    name: "gateway_request_seconds",
    help: "From a request's arrival at the router to its answer; hits from memory are answered before it and not timed.",
    labelNames: ["endpoint"],
    buckets,
    registers,
  });
  const upstreamDurations = new metrics.Histogram({
    name: "gateway_upstream_seconds",
    help: "CacheStatus long legacy took to answer.",
    buckets,
    registers,
  });

  const hits = tallyHits((endpoint, status, count) => {
    requests.inc({ endpoint, status }, count);
    kinds.inc({ endpoint, kind: "hit" }, count);
  }, sent);
  const written = registry.metrics.bind(registry);
  registry.metrics = () => {
    hits.count();
    return written();
  };

  return {
    registry,
    countHit: hits.add,
    countAnswer(endpoint, status, how, ms, bytes) {
      requests.inc({ endpoint, status });
      kinds.inc({ endpoint, kind: kindOf(how) });
      sent.inc(bytes);
      durations.observe({ endpoint }, ms / 1000);
    },
    countUpstreamCall(failed, ms) {
      upstream.inc({ result: failed ? "failed" : "answered" });
      upstreamDurations.observe(ms / 1000);
    },
    passedThrough: (status) => passed.inc({ status }),
    decided: (endpoint, backend, reason) => decisions.inc({ endpoint, backend, reason }),
    compared: (endpoint, kind) => comparisons.inc({ endpoint, kind }),
    incomplete: () => incomplete.inc(),
    cache: (event, endpoint) => cacheEvents.inc({ event, endpoint }),
    shared: (call, result) => sharedCalls.inc({ call, result }),
    ...looksUp(registers),
  };
};

/** Tallies hits, which cost microseconds, and counts them when the metrics are read. */
const tallyHits = (onCount: (endpoint: string, status: number, count: number) => void, sent: Counter) => {
  const tally = new Map<string, Map<number, number>>();
  let sentBytes = 0;
  return {
    add: (endpoint: string, status: number, bytes: number): void => {
      let byStatus = tally.get(endpoint);
      if (byStatus === undefined) tally.set(endpoint, (byStatus = new Map()));
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      sentBytes += bytes;
    },
    count(): void {
      for (const [endpoint, byStatus] of tally)
        for (const [status, count] of byStatus) onCount(endpoint, status, count);
      tally.clear();
      sent.inc(sentBytes);
      sentBytes = 0;
    },
  };
};

/** Registers the counter of logged events, which is filled when the metrics are read. */
const countEvents = (events: () => Record<string, number>, registers: Registry[]): void => {
  const logged: Counter = new metrics.Counter({
    name: "gateway_events_total",
    help: "What an operator should know of, as in the log.",
    labelNames: ["event", "endpoint"],
    registers,
    collect() {
      logged.reset();
      for (const [kind, count] of Object.entries(events())) {
        const [event = "", endpoint = ""] = kind.split(" ");
        logged.inc({ event, endpoint }, count);
      }
    },
  });
};

/** The metrics that are looked up when they are read. */
const looksUp = (registers: Registry[]): Pick<Meter, "gauge" | "total"> => ({
  gauge(name, help, value) {
    const gauge: Gauge = new metrics.Gauge({
      name: `gateway_${name}`,
      help,
      registers,
      collect: () => gauge.set(value()),
    });
  },
  total(name, help, value) {
    const total: Counter = new metrics.Counter({
      name: `gateway_${name}_total`,
      help,
      registers,
      collect() {
        total.reset();
        total.inc(value());
      },
    });
  },
});
