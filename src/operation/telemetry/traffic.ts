import { type AnswerCounts, type Meter, requestKinds } from "./meter.ts";

/** Minutes that figures of recent traffic cover; soon after the start there are fewer. */
export const RECENT_MINUTES = 5;
/** Minutes that a curve covers. */
const CURVE_MINUTES = 180;

const SAMPLE_EVERY = 5000;
const SAMPLES_A_MINUTE = 60_000 / SAMPLE_EVERY;

/** Failures within a minute that count as a trouble, if their share is also too large: see deploy/alerts.yaml. */
const MIN_ERRORS = 3;
const MAX_ERROR_RATIO = 0.001;

/** The outcomes of requests since the start. */
export type Outcomes = Omit<AnswerCounts, "misses">;

/**
 * The answers of the last minutes. `rate`: requests a second. `p95`: milliseconds within which 95 % of the latest
 * misses were answered.
 */
type RecentTraffic = Outcomes & { rate: number; p95?: number | undefined };

/** The recent traffic of an endpoint, a read of old clients, or a kind. */
export type NamedTraffic = RecentTraffic & { name: string };

/** The recent traffic of this gateway. */
export type Traffic = ReturnType<typeof openTraffic>;

const kinds: ReadonlySet<string> = new Set(Object.values(requestKinds));

/** Takes a sample of the counts every five seconds, so a request costs nothing more. */
export const openTraffic = ({ counts }: Pick<Meter, "counts">, endpoints: readonly string[]) => {
  const ours = new Set(endpoints);
  const sample = () => ({
    at: performance.now(),
    counts: new Map([...counts].map(([name, known]) => [name, { ...known }])),
  });
  const samples = [sample()];
  const sum = (): Outcomes => sumOutcomes([...counts.values()]);
  const minutes = [sum()];
  let taken = 0;
  const timer = setInterval(() => {
    samples.push(sample());
    if (samples.length > RECENT_MINUTES * SAMPLES_A_MINUTE + 1) samples.shift();
    if (++taken % SAMPLES_A_MINUTE === 0) minutes.push(sum());
    if (minutes.length > CURVE_MINUTES) minutes.shift();
  }, SAMPLE_EVERY).unref();

  const of = (name: string, inMinutes = RECENT_MINUTES): RecentTraffic => {
    const first = samples.at(-inMinutes * SAMPLES_A_MINUTE - 1) ?? samples[0];
    const seconds = Math.max(1, (performance.now() - (first?.at ?? 0)) / 1000);
    const last = counts.get(name) ?? none;
    const outcomes = difference(last, first?.counts.get(name) ?? none);
    return { ...outcomes, rate: outcomes.requests / seconds, p95: last.misses?.quantile(0.95) };
  };
  /** By endpoint, read of old clients or kind. */
  const recent = (inMinutes = RECENT_MINUTES): NamedTraffic[] =>
    [...ours.union(counts)].map((name) => ({ name, ...of(name, inMinutes) }));
  return {
    of: (endpoint: string): RecentTraffic => of(endpoint),
    recent: (): NamedTraffic[] => recent(),
    lastMinute: (): NamedTraffic[] => recent(1),
    /** The traffic of each endpoint. */
    byEndpoint: (): NamedTraffic[] => recent().filter(({ name }) => ours.has(name)),
    /** The traffic of the reads of old clients, by name. */
    reads: (): NamedTraffic[] => recent().filter(({ name }) => !ours.has(name) && !kinds.has(name)),
    /** The traffic of all other requests, by kind. */
    others: (): NamedTraffic[] => recent().filter(({ name }) => kinds.has(name)),
    /**
     * Returns a function that gives the outcomes of requests since now. It includes the failures of the last minute,
     * since they come before a trouble is known.
     */
    sinceNow(): () => Outcomes {
      const { errors } = sumTraffic(recent(1));
      const begin = difference(sum(), { requests: errors, hits: 0, errors });
      return () => difference(sum(), begin);
    },
    /** The outcomes of each minute, the oldest first. */
    curve: (): Outcomes[] => [...minutes.slice(1), sum()].map((last, i) => difference(last, minutes[i] ?? last)),
    /** True if a request has come on either interface since the start. */
    hasBegun: (): boolean => counts.size > 0,
    close: () => clearInterval(timer),
  };
};

/** True if so many failures are a trouble. */
export const isTrouble = ({ requests, errors }: Pick<Outcomes, "requests" | "errors">): boolean =>
  errors >= MIN_ERRORS && errors > MAX_ERROR_RATIO * requests;

const none: AnswerCounts = { requests: 0, hits: 0, errors: 0 };

const difference = (last: Outcomes, first: Outcomes): Outcomes => ({
  requests: last.requests - first.requests,
  hits: last.hits - first.hits,
  errors: last.errors - first.errors,
});

const sumOutcomes = (all: readonly Outcomes[]): Outcomes => ({
  requests: all.reduce((sum, { requests }) => sum + requests, 0),
  hits: all.reduce((sum, { hits }) => sum + hits, 0),
  errors: all.reduce((sum, { errors }) => sum + errors, 0),
});

/** The sum of all of these, without a p95. */
export const sumTraffic = (all: readonly RecentTraffic[]): RecentTraffic => ({
  ...sumOutcomes(all),
  rate: all.reduce((sum, { rate }) => sum + rate, 0),
});
