import { CircuitState, type CircuitBreakerPolicy, circuitBreaker, handleWhen, SamplingBreaker } from "cockatiel";
import { UpstreamFailure } from "./failure.ts";

/** An answer by which a backend says that it cannot answer: for the breaker it is a failure like any other. */
export class BackendFailure extends Error {
  override name = "BackendFailure";
}

/** What was given up, never sent, or is only large says nothing of the backend. */
export const isItsFault = (error: unknown): boolean =>
  error instanceof BackendFailure ||
  (error instanceof UpstreamFailure && !["overloaded", "aborted", "tooLarge"].includes(error.kind));

/** Opens where at least half of the calls of the last ten seconds failed, and more than a few were made; tries again after five. */
export const openBreaker = (): CircuitBreakerPolicy =>
  circuitBreaker(handleWhen(isItsFault), {
    halfOpenAfter: 5000,
    breaker: new SamplingBreaker({ threshold: 0.5, duration: 10_000, minimumRps: 3 }),
  });

/** Somebody is finding out whether it is back: nobody else waits for that. */
export const isProbing = ({ state }: CircuitBreakerPolicy): boolean => state === CircuitState.HalfOpen;
