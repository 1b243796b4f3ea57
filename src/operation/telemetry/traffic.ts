import type { AnswerCounts, Meter } from "./meter.ts";

/** Minutes that figures of recent traffic cover; in the first of them there are fewer. */
export const RECENT_MINUTES = 5;
/** Minutes that a curve covers. */
const CURVE_MINUTES = 180;

/**
 * What clients were answered in the last minutes. `rate`: requests a second. `p95`: milliseconds within which 95 % of
 * the latest misses were answered.
 */
type RecentTraffic = Omit<AnswerCounts, "misses"> & { rate: number; p95?: number | undefined };

/** Recent traffic of what a name stands for. */
export type NamedTraffic = RecentTraffic & { name: string };

/** The recent traffic of this gateway. */
export type Traffic = ReturnType<typeof openTraffic>;

/** Takes a sample of what the metrics count each minute: a request costs nothing more. */
export const openTraffic = ({ traffic }: Pick<Meter, "traffic">, endpoints: readonly string[]) => {
  const byEndpoint = new Map(endpoints.map((name) => [name, openSamples(() => traffic(name))]));
  const proxied = openSamples(() => traffic());
  const reads = new Map<string, ReturnType<typeof openSamples>>();
  const timer = setInterval(() => {
    for (const samples of [...byEndpoint.values(), ...reads.values(), proxied]) samples.take();
  }, 60_000).unref();
  const samplesOf = (endpoint: string) => byEndpoint.get(endpoint) as ReturnType<typeof openSamples>;
  return {
    of: (endpoint: string): RecentTraffic => samplesOf(endpoint).recent(),
    /** Of all endpoints together. */
    all: (): RecentTraffic => sumTraffic([...byEndpoint.values()].map((samples) => samples.recent())),
    /** Of each endpoint. */
    byEndpoint: (): NamedTraffic[] => named(byEndpoint),
    /** Of reads of old clients, by what they ask for: those that were added. */
    reads: (): NamedTraffic[] => named(reads),
    addReads: (name: string, counts: () => Readonly<AnswerCounts>): void => void reads.set(name, openSamples(counts)),
    /** Of the legacy interface, without these reads. */
    proxied: (): RecentTraffic => proxied.recent(),
    /** Whether a request has come on either interface since the start. */
    hasBegun: (): boolean =>
      reads.size > 0 || [...byEndpoint.keys(), undefined].some((name) => traffic(name).requests > 0),
    /** The requests of each minute, the oldest first. */
    curve: (endpoint: string): number[] => samplesOf(endpoint).curve(),
    close: () => clearInterval(timer),
  };
};

const named = (samples: ReadonlyMap<string, ReturnType<typeof openSamples>>): NamedTraffic[] =>
  [...samples].map(([name, one]) => ({ name, ...one.recent() }));

/**
 * All of these together, without a p95.
 *
 * @example sumTraffic(traffic.reads()).requests
 */
export const sumTraffic = (all: readonly RecentTraffic[]): RecentTraffic => ({
  requests: all.reduce((sum, { requests }) => sum + requests, 0),
  hits: all.reduce((sum, { hits }) => sum + hits, 0),
  errors: all.reduce((sum, { errors }) => sum + errors, 0),
  rate: all.reduce((sum, { rate }) => sum + rate, 0),
});

const openSamples = (counts: () => Readonly<AnswerCounts>) => {
  const now = () => ({ at: performance.now(), ...counts() });
  const samples = [now()];
  return {
    take(): void {
      samples.push(now());
      if (samples.length > CURVE_MINUTES + 1) samples.shift();
    },
    recent(): RecentTraffic {
      const last = now();
      const first = samples.at(-RECENT_MINUTES) ?? samples[0] ?? last;
      const requests = last.requests - first.requests;
      const rate = requests / Math.max(1, (last.at - first.at) / 1000);
      const [hits, errors] = [last.hits - first.hits, last.errors - first.errors];
      return { requests, hits, errors, rate, p95: last.misses?.quantile(0.95) };
    },
    curve: (): number[] => samples.slice(1).map((one, i) => one.requests - (samples[i]?.requests ?? 0)),
  };
};
