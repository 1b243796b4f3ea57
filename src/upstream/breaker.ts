import { hash, randomBytes } from "node:crypto";
import {
  BrokenCircuitError,
  circuitBreaker,
  CircuitState,
  handleWhen,
  type IBreaker,
  SamplingBreaker,
  TaskCancelledError,
} from "cockatiel";
import { isConnectionFailure, UpstreamFailure } from "./failure.ts";

/** An answer by which a backend says that it cannot answer: for the breaker it is a failure like any other. */
export class BackendFailure extends Error {
  override name = "BackendFailure";
  /** There was no connection to it. */
  isUnconnected = false;
}

/** What was given up, never sent, or is only large says nothing of the backend. */
export const isItsFault = (error: unknown): boolean =>
  error instanceof BackendFailure ||
  (error instanceof UpstreamFailure && !["overloaded", "aborted", "tooLarge"].includes(error.kind));

/** What is asked, and on whose behalf: by their key, else by the address that they call from. */
export type Attempt = { request: string; caller: { key?: string; client?: string } };

export type Breaker = {
  /** Makes the call and gives what it gives, or throws what it throws; undefined: the circuit is open, and no call was made. */
  execute<T>(attempt: Attempt, call: () => Promise<T>): Promise<T | undefined>;
};

/** Milliseconds that are looked back on. */
const WINDOW = 10_000;
/** Milliseconds until one call finds out whether the backend is back. */
const RETRY = 5_000;
/** Milliseconds in which a caller whose call has just failed to show that it is back leaves that to others. */
const OTHERS_FIRST = 15_000;
/** So many failed connections open the circuit, or so many distinct requests that failed, of which a caller counts for two at most. */
const FAILURES = 5;
const FAILURES_OF_ONE = 2;

/**
 * Opens where more than half of the calls of the last ten seconds failed, and that cannot be one caller's doing: connections failed, or five
 * distinct requests by at least three callers did. After five seconds one call finds out whether the backend is back.
 */
export const openBreaker = (): Breaker => {
  const salt = randomBytes(16).toString("hex");
  const sampled = new OutageSampler();
  const policy = circuitBreaker(handleWhen(isItsFault), { halfOpenAfter: RETRY, breaker: sampled });
  let barred: { caller: string; until: number } | undefined;

  const callerOf = ({ key, client = "" }: Attempt["caller"]): string =>
    key === undefined ? `client ${networkOf(client)}` : `key ${hash("sha256", salt + key, "base64")}`;

  return {
    async execute({ request, caller }, call) {
      // Somebody is finding out whether it is back: nobody else waits for that.
      if (policy.state === CircuitState.HalfOpen) return undefined;
      const isProbe = policy.state === CircuitState.Open;
      // Else the caller of a request that breaks the backend would keep the circuit open.
      if (isProbe && barred && Date.now() < barred.until && callerOf(caller) === barred.caller) return undefined;
      try {
        return await policy.execute(async () => {
          try {
            return await call();
          } catch (error) {
            if (!isItsFault(error)) throw error;
            const isUnconnected = error instanceof BackendFailure ? error.isUnconnected : isConnectionFailure(error);
            const by = callerOf(caller);
            if (isUnconnected) sampled.unconnected();
            else sampled.failed(hash("sha256", request, "base64"), by);
            if (isProbe && !isUnconnected) barred = { caller: by, until: Date.now() + OTHERS_FIRST };
            throw error;
          }
        });
      } catch (error) {
        if (error instanceof BrokenCircuitError || error instanceof TaskCancelledError) return undefined;
        throw error;
      }
    },
  };
};

/** What of the failures in the window tells of the backend; it remembers five of each kind at most. */
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

/** `2001:db8:0:1::9` -> `2001:db8:0:1`: whoever has one address of a /64 network has all of them. Any other text stays. */
const networkOf = (address: string): string => {
  if (!address.includes(":")) return address;
  const [head = [], tail = []] = address.split("::").map((part) => part.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  const groups = [...head, ...zeros, ...tail].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
};
