import { type CallTimes, type Dependencies, type FailureMeaning, RECENT_MINUTES } from "../../operation/index.ts";
import type { UpstreamFailure } from "./failure.ts";

type CountsByEndpoint = Readonly<Record<string, number>>;

/** All counts are those since the start. `calls`: to legacy. */
type LegacyTroublesSettings = {
  calls: () => CallTimes;
  /** Answers that were not of legacy itself, lacked all rows of a list or did not come, and unreadable ones. */
  badAnswers: () => { ill: CountsByEndpoint; unreadable: CountsByEndpoint };
  /** Legacy fails: that is said alone. */
  isFailing: () => boolean;
  keysAlone: () => FailureMeaning | undefined;
};

/** Milliseconds between two looks. */
const LOOK_EVERY = 5000;
const MAX_SAMPLES = (RECENT_MINUTES * 60_000) / LOOK_EVERY;
/** Of fewer calls a p95 says nothing. */
const MIN_CALLS = 20;
/**
 * Where more than this share of the calls were slow, their p95 is slow. Fewer unreadable answers
 * are due to single records.
 */
const SHARE = 0.05;
/** So many bad answers mean that an endpoint fails. */
const MIN_BAD = 3;
/** Endpoints that are named. */
const MAX_NAMED = 3;

const recently = `in the last ${RECENT_MINUTES} minutes`;

/**
 * Tells operators what is wrong with a legacy that does not fail: it is slow, it has no room for all requests, or it
 * fails at some endpoints. It looks at what is counted anyway, every five seconds: a request costs nothing more.
 */
export const openLegacyTroubles = (
  { calls, badAnswers, isFailing, keysAlone }: LegacyTroublesSettings,
  dependencies: Pick<Dependencies, "add">,
) => {
  const reportSpeed = dependencies.add("legacy_speed", {
    trouble: "Legacy has been slow",
    effect: "what is not cached takes long",
  });
  const reportRoom = dependencies.add("legacy_room", {
    trouble: "Legacy has been full",
    effect: "requests that find no room are answered 503",
  });
  const reportEndpoints = dependencies.add("legacy_endpoints", () => ({
    trouble: "Legacy has been failing at some endpoints",
    effect: "what they have not cached is wrong, or answered 502 or 503",
    isUsed: keysAlone() === undefined,
  }));
  let refused = 0;
  const sample = () => ({ ...calls(), refused, ...badAnswers() });
  let samples = [sample()];

  const look = (): void => {
    if (isFailing()) samples = [];
    const last = sample();
    const first = samples[0] ?? last;
    const [made, slow] = [last.made - first.made, last.slow - first.slow];
    const isSlow = made >= MIN_CALLS && slow > SHARE * made;
    reportSpeed(!isSlow, isSlow ? `${slow} of ${made} calls ${recently} took more than 5 s` : undefined);
    const full = last.refused - first.refused;
    reportRoom(full === 0, full === 0 ? undefined : `${full} requests ${recently} found no connection or no memory`);
    const bad = [
      ...since(first.ill, last.ill),
      ...since(first.unreadable, last.unreadable).filter(({ count }) => count > SHARE * made),
    ].filter(({ count }) => count >= MIN_BAD);
    reportEndpoints(bad.length === 0, bad.length === 0 ? undefined : describeBad(bad));
    samples.push(last);
    if (samples.length > MAX_SAMPLES) samples.shift();
  };
  const timer = setInterval(look, LOOK_EVERY).unref();
  return {
    /** A request got no answer, or not all of it. */
    failed({ kind }: Pick<UpstreamFailure, "kind">): void {
      if (kind === "overloaded" || kind === "crowded") refused++;
    },
    /** A failure has begun or is over: what was counted until now belongs to it. */
    beginAnew(): void {
      samples = [];
      look();
    },
    close: () => clearInterval(timer),
  };
};

type EndpointCount = { endpoint: string; count: number };

const since = (first: CountsByEndpoint, last: CountsByEndpoint): EndpointCount[] =>
  Object.entries(last).map(([endpoint, count]) => ({ endpoint, count: count - (first[endpoint] ?? 0) }));

const describeBad = (bad: readonly EndpointCount[]): string => {
  const named = bad.toSorted((a, b) => b.count - a.count).slice(0, MAX_NAMED);
  const left = bad.length - named.length;
  const names = named.map(({ endpoint, count }) => `${endpoint} ${count}`).join(", ");
  return `answers ${recently} that are not of legacy itself, lack all rows, cannot be read, or do not come: ${names}${left > 0 ? ` and ${left} more endpoints` : ""}`;
};
