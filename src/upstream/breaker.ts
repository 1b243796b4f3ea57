import { hash, randomBytes } from "node:crypto";
// Each from its own file: the package's index also loads retries, timeouts and bulkheads.
import { SamplingBreaker } from "cockatiel/dist/breaker/SamplingBreaker.js";
import { CircuitBreakerPolicy, CircuitState } from "cockatiel/dist/CircuitBreakerPolicy.js";
import { ExecuteWrapper } from "cockatiel/dist/common/Executor.js";
import { BrokenCircuitError } from "cockatiel/dist/errors/Errors.js";
import { LRUCache } from "lru-cache";
import { withTimeout } from "../concurrency/withTimeout.ts";
import { isConnectionFailure, UpstreamFailure } from "./failure.ts";
import { subnetOf } from "./forwarding.ts";

/** An answer by which a backend says that it cannot answer; the breaker counts it as a failure. */
export class BackendFailure extends Error {
  override name = "BackendFailure";
}

/** Whether an error is the backend's fault. A request that was aborted, never sent, or has a large answer is not. */
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

/** Called when the circuit has opened, or has closed again after so many milliseconds. */
type OnCircuitChange = (change: "opened" | "closed", openFor?: number) => void;

/** Milliseconds for which calls are remembered. */
const WINDOW = 10_000;
/** Milliseconds from opening until one call may find out whether the backend is back, and that it may take for that. */
const RETRY = 5_000;
/** Milliseconds for which a caller whose attempt failed while the circuit was open makes no further attempt, so that others do. */
const OTHERS_FIRST = 15_000;
/** Calls in the window, of which most must have failed, and callers with different requests that failed. */
const CALLS = 5;
const CALLERS = 3;

/**
 * The circuit opens when more than half of the calls of the last ten seconds failed, five at least, and one caller cannot have caused it:
 * three callers had failures of three requests. After five seconds one call finds out whether the backend is back.
 */
export const openBreaker = (onChange: OnCircuitChange = () => undefined): Breaker => {
  const salt = randomBytes(16).toString("hex");
  const outage = new OutageBreaker(() => policy.state);
  const policy = new CircuitBreakerPolicy({ halfOpenAfter: RETRY, breaker: outage }, new ExecuteWrapper(isItsFault));
  observeChanges(policy, onChange);
  let barred: { caller: string; until: number } | undefined;

  // Legacy ignores the case of keys: else one key would be as many callers as it has spellings.
  const callerOf = ({ key, client = "" }: Attempt["caller"]): string =>
    key === undefined ? `client ${subnetOf(client)}` : `key ${hash("sha256", salt + key.toLowerCase(), "base64")}`;

  return {
    circuit: () => circuits[policy.state],
    async execute({ request, caller }, call) {
      const isProbe = policy.state !== CircuitState.Closed;
      // One call finds out whether the backend is back, and the others do not wait for it.
      if (policy.state === CircuitState.HalfOpen) return undefined;
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
            const isUnconnected = isConnectionFailure(error);
            if (isUnconnected) outage.unconnected();
            else outage.failed(callerOf(caller), hash("sha256", request(), "base64"));
            if (isProbe && !isUnconnected) barred = { caller: callerOf(caller), until: Date.now() + OTHERS_FIRST };
            throw error;
          }
        });
      } catch (error) {
        if (error instanceof BrokenCircuitError) return undefined;
        // Its caller still gets its answer.
        if (error instanceof LateProbe) return running;
        throw error;
      }
    },
  };
};

const circuits = {
  [CircuitState.Closed]: "closed",
  [CircuitState.Open]: "open",
  [CircuitState.HalfOpen]: "half_open",
  [CircuitState.Isolated]: "open",
} as const;

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

/** Opens the circuit at a rate of failures, if they are those of three callers: each has one, the last. */
class OutageBreaker extends SamplingBreaker {
  readonly #failures = new LRUCache<string, string>({ max: 100, ttl: WINDOW, perf: Date });
  readonly #current: () => CircuitState;
  #connections = 0;

  constructor(current: () => CircuitState) {
    super({ threshold: 0.5, duration: WINDOW, minimumRps: CALLS / (WINDOW / 1000) });
    this.#current = current;
  }

  /** A caller's request has failed. */
  failed(caller: string, request: string): void {
    this.#failures.set(caller, request);
  }

  /** A connection has failed, which is due to no caller: it counts as one of its own. */
  unconnected(): void {
    const connection = `connection ${this.#connections++ % CALLERS}`;
    this.failed(connection, connection);
  }

  override success(state: CircuitState): void {
    super.success(state);
    if (state === CircuitState.HalfOpen) this.#failures.clear();
  }

  /** `state`: when the call began. */
  override failure(state: CircuitState): boolean {
    const isMost = super.failure(state);
    if (state !== CircuitState.Closed) return isMost;
    // A call that began before it opened decides nothing about the attempt.
    return isMost && this.#current() === state && new Set(this.#failures.values()).size >= CALLERS;
  }
}
