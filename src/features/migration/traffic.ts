import type { AnswerCounts } from "../../telemetry/meter.ts";

/** Minutes that the curve of an endpoint's requests covers. */
const MINUTES = 180;

/** The requests of callers to one endpoint, by samples of what the metrics count: a request costs nothing more. */
export type EndpointTraffic = ReturnType<typeof openTraffic>;

/** `traffic`: until now. `now` gives milliseconds since the epoch; `sample` is to be called each minute. */
export const openTraffic = (traffic: () => AnswerCounts, now: () => number) => {
  const take = () => ({ at: now(), ...traffic() });
  const samples = [take()];
  /** One to two minutes ago, or the start. */
  const lately = () => (samples.at(-2) ?? samples[0]) as (typeof samples)[number];
  return {
    sample(): void {
      samples.push(take());
      if (samples.length > MINUTES + 1) samples.shift();
    },
    /** Requests a second. */
    rate: (): number => (traffic().requests - lately().requests) / Math.max(1, (now() - lately().at) / 1000),
    /** The share of them (0-1) that the cache answered. */
    hitRatio(): number {
      const { requests, hits } = traffic();
      return (hits - lately().hits) / Math.max(1, requests - lately().requests);
    },
    /** The requests of each minute, the oldest first. */
    curve: (): number[] => samples.slice(1).map((one, i) => one.requests - (samples[i]?.requests ?? 0)),
  };
};
