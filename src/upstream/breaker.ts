import { hash, randomBytes } from "node:crypto";
import type { IBreaker } from "cockatiel";
// Each from its own file: the package's index also loads retries, timeouts and bulkheads.
import { SamplingBreaker } from "cockatiel/dist/breaker/SamplingBreaker.js";
import { CircuitBreakerPolicy, CircuitState } from "cockatiel/dist/CircuitBreakerPolicy.js";
import { ExecuteWrapper } from "cockatiel/dist/common/Executor.js";
import { BrokenCircuitError, TaskCancelledError } from "cockatiel/dist/errors/Errors.js";
import { withTimeout } from "../concurrency/withTimeout.ts";
import { isConnectionFailure, UpstreamFailure } from "./failure.ts";
import { subnetOf } from "./subnet.ts";

/** An answer by which a backend says that it cannot answer; the breaker counts it as a failure. */
export class BackendFailure extends Error {
  override name = "BackendFailure";
  /** There was no connection to it. */
  isUnconnected = false;
}

/** Whether an error is the backend's fault. A request that was given up, never sent, or has a large answer is not. */
export const isItsFault = (error: unknown): boolean =>
  error instanceof BackendFailure ||
  (error instanceof UpstreamFailure && !["overloaded", "aborted", "tooLarge", "crowded"].includes(error.kind));

/** One call: its request, and its caller, known by a key or else by an address. */
type Attempt = { request: () => string; caller: { key?: string; client?: string } };

/** A circuit breaker for the calls to one backend. */
export type Breaker = {
  /** Makes the call and passes its result or error on. `undefined`: the circuit is open and no call was made. */
  execute<T>(attempt: Attempt, call: () => Promise<T>): Promise<T | undefined>;
  /** `half_open`: one call finds out whether the backend is back. */
  circuit(): "closed" | "open" | "half_open";
};

/** Hears that the circuit has opened, or that it has closed again after so many milliseconds. */
export type OnCircuitChange = (change: "opened" | "closed", openFor?: number) => void;

/** Milliseconds for which calls are remembered. */
const WINDOW = 10_000;
/** Milliseconds from opening until one call may find out whether the backend is back, and that it may take for that. */
const RETRY = 5_000;
/** Milliseconds for which a caller whose attempt failed while the circuit was open makes no further attempt, so that others do. */
const OTHERS_FIRST = 15_000;
/** Failed connections that open the circuit, or distinct requests that failed, of which at most two of each caller count. */
const FAILURES = 5;
const FAILURES_OF_ONE = 2;

/**
 * The circuit opens when more than half of the calls of the last ten seconds failed and one caller cannot have caused it: five connections
 * failed, or five distinct requests by at least three callers did. After five seconds one call finds out whether the backend is back.
 */
export const openBreaker = (onChange: OnCircuitChange = () => undefined): Breaker => {
  const salt = randomBytes(16).toString("hex");
  const sampled = new OutageSampler();
  const policy = new CircuitBreakerPolicy({ halfOpenAfter: RETRY, breaker: sampled }, new ExecuteWrapper(isItsFault));
  observeChanges(policy, onChange);
  let barred: { caller: string; until: number } | undefined;

  // Legacy ignores the case of keys: else one key would be as many callers as it has spellings.
  const callerOf = ({ key, client = "" }: Attempt["caller"]): string =>
    key === undefined ? `client ${subnetOf(client)}` : `key ${hash("sha256", salt + key.toLowerCase(), "base64")}`;

  /** Calls directly while the circuit is closed: the policy costs several promises, and has to hear of failures only. */
  const executeClosed = async <T>({ request, caller }: Attempt, call: () => Promise<T>): Promise<T> => {
    try {
      const result = await call();
      sampled.success(CircuitState.Closed);
      return result;
    } catch (error) {
      if (!isItsFault(error)) throw error;
      note(error, request, caller);
      // The failure may open the circuit, which calls at the same time may have done already.
      if (policy.state === CircuitState.Closed)
        await policy.execute(() => Promise.reject(error as Error)).catch(() => undefined);
      throw error;
    }
  };
  /** Counts a failed call. Returns whether there was no connection. */
  const note = (error: unknown, request: Attempt["request"], caller: Attempt["caller"]): boolean => {
    const isUnconnected = error instanceof BackendFailure ? error.isUnconnected : isConnectionFailure(error);
    if (isUnconnected) sampled.unconnected();
    else sampled.failed(hash("sha256", request(), "base64"), callerOf(caller));
    return isUnconnected;
  };

  return {
    circuit() {
      if (policy.state === CircuitState.Closed) return "closed";
      return policy.state === CircuitState.HalfOpen ? "half_open" : "open";
    },
    async execute(attempt, call) {
      if (policy.state === CircuitState.Closed) return executeClosed(attempt, call);
      const { request, caller } = attempt;
      // One call is finding out whether the backend is back: the others do not wait for it.
      if (policy.state === CircuitState.HalfOpen) return undefined;
      const isProbe = policy.state === CircuitState.Open;
      // Otherwise the caller of a request that breaks the backend could keep the circuit open.
      if (isProbe && barred && Date.now() < barred.until && callerOf(caller) === barred.caller) return undefined;
      let running: ReturnType<typeof call> | undefined;
      try {
        return await policy.execute(async () => {
          running = call();
          try {
            return await (isProbe ? withinRetry(running) : running);
          } catch (error) {
            if (!isItsFault(error)) throw error;
            const isUnconnected = note(error, request, caller);
            if (isProbe && !isUnconnected) barred = { caller: callerOf(caller), until: Date.now() + OTHERS_FIRST };
            throw error;
          }
        });
      } catch (error) {
        if (error instanceof BrokenCircuitError || error instanceof TaskCancelledError) return undefined;
        // Its caller still gets its answer.
        if (error instanceof LateProbe) return running;
        throw error;
      }
    },
  };
};

/** An attempt that fails opens the circuit again: that is no change. */
const observeChanges = (policy: CircuitBreakerPolicy, onChange: OnCircuitChange): void => {
  let openedAt: number | undefined;
  policy.onBreak(() => {
    if (openedAt !== undefined) return;
    openedAt = performance.now();
    onChange("opened");
  });
  policy.onReset(() => {
    if (openedAt !== undefined) onChange("closed", performance.now() - openedAt);
    openedAt = undefined;
  });
};

/** A call that takes longer than this is no sign that the backend is back; another one may find out meanwhile. */
class LateProbe extends BackendFailure {}

const withinRetry = async <T>(running: Promise<T>): Promise<T> => {
  const result = await withTimeout(running, RETRY);
  if (result === "late") throw new LateProbe("it took too long");
  return result;
};

/** Decides whether the failures in the window mean an outage. It remembers at most five failed connections and five failed requests. */
class OutageSampler implements IBreaker {
  readonly #rate = new SamplingBreaker({
    threshold: 0.5,
    duration: WINDOW,
    minimumRps: FAILURES / (WINDOW / 1000),
  });
  /** When connections failed. */
  #unconnected: number[] = [];
  /** Requests that failed: for whom, and when last. */
  readonly #requests = new Map<string, { caller: string; at: number }>();

  get state(): unknown {
    return this.#rate.state;
  }

  set state(value: unknown) {
    this.#rate.state = value;
  }

  unconnected(): void {
    this.#unconnected = [...this.#unconnected, Date.now()].slice(-FAILURES);
  }

  failed(request: string, caller: string): void {
    this.#forgetOld();
    const known = this.#requests.get(request);
    if (known) known.at = Date.now();
    if (known || this.#requests.size >= FAILURES) return;
    const ofCaller = [...this.#requests.values()].filter((other) => other.caller === caller).length;
    if (ofCaller < FAILURES_OF_ONE) this.#requests.set(request, { caller, at: Date.now() });
  }

  success(state: CircuitState): void {
    this.#rate.success(state);
    if (state !== CircuitState.HalfOpen) return;
    this.#unconnected = [];
    this.#requests.clear();
  }

  failure(state: CircuitState): boolean {
    const isMost = this.#rate.failure(state);
    return state === CircuitState.Closed ? isMost && this.#isOutage() : true;
  }

  #isOutage(): boolean {
    this.#forgetOld();
    return Math.max(this.#unconnected.length, this.#requests.size) >= FAILURES;
  }

  #forgetOld(): void {
    const since = Date.now() - WINDOW;
    this.#unconnected = this.#unconnected.filter((at) => at > since);
    for (const [request, { at }] of this.#requests) if (at <= since) this.#requests.delete(request);
  }
}
