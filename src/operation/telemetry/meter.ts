import { openRecentTimes, type RecentTimes } from "./recentTimes.ts";
import {
  type CounterChild,
  type Family,
  type FamilyValues,
  HistogramChild,
  openChildren,
  type Sample,
} from "./series.ts";

/** The values that a look-up may return: one number, or a number for each combination of labels. */
type LookedUp = number | readonly Sample[];

/** A backend as the metrics see it. `certificateExpiry`: seconds since the epoch; `undefined`: no certificate seen. */
type MeteredBackend = {
  name: string;
  circuit: () => (typeof circuits)[number];
  certificateExpiry: () => number | undefined;
};

/** The result of a call to a backend; `circuit_open`: the call was not made. */
export type CallResult = "answered" | "failed" | "circuit_open";

/** The source of an answer, in the words of Cache-Status (RFC 9211). */
export type CacheStatus = {
  /** From an entry, without a request to a backend. */
  hit?: true;
  fwd?: "uri-miss" | "stale" | "request" | "method" | "bypass";
  /** The request waited for the fetch of another request. */
  collapsed?: true;
  stored?: boolean;
  detail?: string;
};

/**
 * An answer of the router. `backend`: the server that made it, perhaps the gateway. `ms`: milliseconds from the
 * request's arrival.
 */
type MeteredAnswer = { backend: string; status: number; how: CacheStatus; ms: number; bytes: number };

/**
 * Requests since the start. `hits`: answered from the cache, fresh or stale. `errors`: their clients got a 5xx, a part
 * of an answer, or something that is not an answer of a backend. `misses`: the durations of the requests for which a
 * backend was asked; absent without such requests.
 */
export type AnswerCounts = { requests: number; hits: number; errors: number; misses?: RecentTimes };

/** The kinds of requests that no endpoint counts: those of old clients, and those that are for neither interface. */
export const requestKinds = {
  read: "other reads of old clients",
  write: "writes of old clients",
  file: "data files",
  website: "the website",
  other: "other requests",
} as const;

/** Counts what happens, for `/metrics`. */
export type Meter = ReturnType<typeof openMeter>;

/** An endpoint as the metrics see it. `isCached`: its answers may be cached. */
type MeteredEndpoint = { name: string; isCached: boolean };

/** The results that an answer may have. */
export const answerResults = [
  "hit",
  "stale",
  "stale_if_error",
  "collapsed",
  "miss",
  "revalidated",
  "uncached",
  "error",
];

/** The `result` of an answer. A 5xx is an `error`: its time is not comparable with that of other answers. */
export const answerResultOf = (status: number, { hit, fwd, collapsed, detail }: CacheStatus): string => {
  if (status >= 500) return "error";
  if (detail === "stale-if-error") return "stale_if_error";
  if (hit) return detail === undefined ? "hit" : "stale";
  if (collapsed) return "collapsed";
  if (fwd === "uri-miss") return "miss";
  return fwd === "stale" || fwd === "request" ? "revalidated" : "uncached";
};

/**
 * Upper bounds in seconds; the eighth is infinite. There are few, since there is a histogram for each endpoint and
 * backend: each bound makes a hundred lines.
 */
const durations = [0.001, 0.01, 0.05, 0.2, 1, 5, 20];

/** The label of a status: exact for a 5xx, else its class (`2xx`), so that an endpoint has few series. */
const statusLabel = (status: number): string => (status >= 500 ? String(status) : `${Math.trunc(status / 100)}xx`);
const statusLabels = ["2xx", "4xx", "500", "502", "503", "504"];
const cacheEvents = ["not_stored", "coalesced", "refreshed", "refresh_failed", "dropped"];
const circuits = ["closed", "half_open", "open"] as const;

type Registry = ReturnType<typeof openRegistry>;

const openRegistry = () => {
  const names = new Set<string>();
  const reads: (() => Promise<readonly FamilyValues[]>)[] = [];
  const register = (family: Family, read: () => readonly Sample[] | Promise<readonly Sample[]>): void => {
    if (names.has(family.name)) throw new Error(`A metric with the name ${family.name} has already been registered.`);
    names.add(family.name);
    reads.push(async () => [{ ...family, values: await read() }]);
  };
  const full = (name: string) => `catalog_gateway_${name}`;
  const lookUp =
    (type: "gauge" | "counter") => (name: string, help: string, read: () => LookedUp | Promise<LookedUp>) =>
      register({ name: full(name), help, type }, async () => samplesOf(await read()));
  return {
    /** All metrics with their values. */
    read: async (): Promise<FamilyValues[]> => (await Promise.all(reads.map((read) => read()))).flat(),
    /** Adds metrics that are counted elsewhere, after those that are there. */
    join: (read: () => readonly FamilyValues[]): void => void reads.push(async () => read()),
    /** Returns a function that gives the child of these label values, which exists from then on. */
    counter(name: string, help: string, labelNames: readonly string[] = []) {
      const { children, of } = openChildren<CounterChild>(labelNames, (labels) => ({ labels, value: 0 }));
      register({ name: full(name), help, type: "counter" }, () => [...children.values()]);
      if (labelNames.length === 0) of();
      return of;
    },
    /** A histogram of durations in seconds. */
    histogram(name: string, help: string, labelNames: readonly string[] = []) {
      const { children, of } = openChildren(labelNames, (labels) => new HistogramChild(full(name), labels, durations));
      register({ name: full(name), help, type: "histogram" }, () =>
        [...children.values()].flatMap((child) => child.samples()),
      );
      return of;
    },
    /** A value that is looked up when the metrics are read. */
    gauge: lookUp("gauge"),
    /** A counter that is looked up when the metrics are read. */
    total: lookUp("counter"),
  };
};

/**
 * Labels are fixed names: never a key, a path or a value of a client. Metric names are given without the prefix
 * `catalog_gateway_`; those of counters end with `_total`. `events`: the number of log events by `name endpoint`.
 */
export const openMeter = (events: () => Record<string, number>, endpoints: readonly MeteredEndpoint[] = []) => {
  const registry = openRegistry();
  registry.total("events_total", "Events of the log, by name; by endpoint where an alert names it.", () =>
    eventSamples(events(), endpoints),
  );
  const { expectBackend, ...answers } = meterAnswers(registry, endpoints);
  return { ...registry, ...answers, ...meterBackends(registry, expectBackend) };
};

const samplesOf = (value: LookedUp): readonly Sample[] => (typeof value === "number" ? [{ labels: {}, value }] : value);

/** Events whose alert names the endpoint: a series that begins with its first event would show no increase. */
const alertEvents = ["schema_mismatch", "legacy_unreadable", "legacy_ill"];

const eventSamples = (events: Record<string, number>, endpoints: readonly MeteredEndpoint[]): Sample[] => {
  const samples = new Map<string, Sample>();
  const none = ["internal_error", ...endpoints.flatMap(({ name }) => alertEvents.map((event) => `${event} ${name}`))];
  const counts = Object.entries(events).concat(none.map((name) => [name, 0]));
  for (const [kind, count] of counts) {
    const [event = "", named = ""] = kind.split(" ");
    const endpoint = alertEvents.includes(event) ? named : "";
    const key = `${event} ${endpoint}`;
    samples.set(key, { labels: { event, endpoint }, value: (samples.get(key)?.value ?? 0) + count });
  }
  return [...samples.values()];
};

/** The answers of the new interface. */
const meterAnswers = (meter: Registry, endpoints: readonly MeteredEndpoint[]) => {
  const requests = meter.counter("requests_total", "Answers of the new interface.", ["endpoint", "status"]);
  const results = meter.counter("cache_answers_total", "These answers, by how they were made (error: 5xx).", [
    "result",
  ]);
  const took = meter.histogram(
    "request_duration_seconds",
    "From a request's arrival to its answer, by the backend that was asked; without an endpoint: the gateway asked none.",
    ["endpoint", "backend"],
  );
  const sent = meter.counter("sent_bytes_total", "Bytes of the bodies of these answers.")();
  const events = meter.counter("cache_events_total", "What the cache did beside answering.", ["event"]);
  for (const { name, isCached } of endpoints)
    for (const label of [...statusLabels, ...(isCached ? ["3xx"] : [])]) requests(name, label);
  for (const result of answerResults) results(result);
  for (const event of cacheEvents) events(event);
  const hits = results("hit");
  const ownTook = took("", "gateway");
  let failedAt: string | undefined;
  /** By endpoint, read of old clients, or kind; `byStatus`: the counters of an endpoint's answers by status. */
  const counts = new Map<string, AnswerCounts & { byStatus: Map<number, CounterChild> }>();
  const countsOf = (name: string) => {
    let known = counts.get(name);
    if (known === undefined) counts.set(name, (known = { requests: 0, hits: 0, errors: 0, byStatus: new Map() }));
    return known;
  };
  const count = (endpoint: string, status: number, isHit: boolean): AnswerCounts => {
    const traffic = counts.get(endpoint) ?? countsOf(endpoint);
    traffic.requests++;
    if (isHit) traffic.hits++;
    let child = traffic.byStatus.get(status);
    if (child === undefined) traffic.byStatus.set(status, (child = requests(endpoint, statusLabel(status))));
    child.value++;
    return traffic;
  };
  return {
    /** The outcomes of all requests, by endpoint, by read of old clients, or by kind. */
    counts: counts as ReadonlyMap<string, Readonly<AnswerCounts>>,
    /** The counts of this name, to be increased. */
    countsOf: countsOf as (name: string) => AnswerCounts,
    /** A request of this name has failed for its client. */
    countFailed(name: string): void {
      countsOf(name).errors++;
      failedAt = new Date().toISOString();
    },
    /** The last time at which a client got an error (ISO 8601). */
    lastFailed: (): string | undefined => failedAt,
    /** Counts an answer of the hit path, which took `ms` milliseconds. */
    countHit(endpoint: string, status: number, bytes: number, ms: number): void {
      count(endpoint, status, true);
      hits.value++;
      ownTook.observe(ms / 1000);
      sent.value += bytes;
    },
    countAnswer(endpoint: string, { backend, status, how, ms, bytes }: MeteredAnswer): void {
      const traffic = count(endpoint, status, how.hit === true || how.detail === "stale-if-error");
      const isAnswered = status < 500 && how.hit !== true && backend !== "gateway";
      if (isAnswered) (traffic.misses ??= openRecentTimes()).add(ms);
      results(answerResultOf(status, how)).value++;
      (how.hit || backend === "gateway" ? ownTook : took(endpoint, backend)).observe(ms / 1000);
      sent.value += bytes;
    },
    /** Counts an event of the cache other than an answer. */
    cache: (event: string): void => void events(event).value++,
    expectBackend: (backend: string): void => {
      for (const { name } of endpoints) took(name, backend);
    },
  };
};

/** The calls to backends, and the state of backends. */
const meterBackends = (meter: Registry, expectBackend: (name: string) => void) => {
  const backends: MeteredBackend[] = [];
  const calls = meter.counter("upstream_requests_total", "Calls to a backend for the new interface.", [
    "backend",
    "result",
  ]);
  const took = meter.histogram("upstream_duration_seconds", "How long these calls took.", ["backend"]);
  meter.gauge("breaker_state", "1 for the state that the circuit breaker of a backend is in.", () =>
    backends.flatMap(({ name: backend, circuit }) =>
      circuits.map((state) => ({ labels: { backend, state }, value: circuit() === state ? 1 : 0 })),
    ),
  );
  meter.gauge(
    "upstream_certificate_expiry_timestamp_seconds",
    "When the TLS certificate of a backend expires, as its last new connection showed.",
    () =>
      backends.flatMap(({ name: backend, certificateExpiry }) => {
        const value = certificateExpiry();
        return value === undefined ? [] : [{ labels: { backend }, value }];
      }),
  );
  return {
    /** The names of backends that get no requests, or only a probe. */
    openCircuits: (): string[] => backends.flatMap(({ name, circuit }) => (circuit() === "closed" ? [] : [name])),
    /** Creates the series of this backend. */
    addBackend: (backend: MeteredBackend): void => {
      expectBackend(backend.name);
      backends.push(backend);
      for (const result of ["answered", "failed", "circuit_open"]) calls(backend.name, result);
      took(backend.name);
    },
    /** Counts a call to a backend, which took `ms` milliseconds. */
    countCall(backend: string, result: CallResult, ms: number): void {
      calls(backend, result).value++;
      if (result !== "circuit_open") took(backend).observe(ms / 1000);
    },
  };
};
