import { type CircuitBreakerPolicy, circuitBreaker, handleWhen, SamplingBreaker } from "cockatiel";
import { UpstreamFailure } from "./failure.ts";

/** An answer by which a backend says that it cannot answer: for the breaker it is a failure like any other. */
export class BackendFailure extends Error {
  override name = "BackendFailure";
}

/** What was given up or never sent says nothing of the backend. */
export const isItsFault = (error: unknown): boolean =>
  error instanceof BackendFailure ||
  (error instanceof UpstreamFailure && error.kind !== "overloaded" && error.kind !== "aborted");

/** Opens where at least half of the calls of the last ten seconds failed, and more than a few were made; tries again after five. */
export const openBreaker = (): CircuitBreakerPolicy =>
  circuitBreaker(handleWhen(isItsFault), {
    halfOpenAfter: 5000,
    breaker: new SamplingBreaker({ threshold: 0.5, duration: 10_000, minimumRps: 3 }),
  });
