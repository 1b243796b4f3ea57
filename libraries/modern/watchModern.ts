import { neverAnswered, type Reason } from "../../src/operation/index.ts";
import { isItsFault, type RequestLine, type UpstreamFailure } from "../../src/gateway/index.ts";

/** An answer by which modern says that it cannot answer. */
export class ModernFailure extends Error {
  override name = "ModernFailure";
  get reason(): Reason {
    return { why: this.message };
  }
}

/** `report`: true if modern is up, and the failure. `onCircuit`: it opened, or closed after `openFor` ms. */
type ModernListeners = {
  url: string;
  report: (isUp: boolean, why?: string, details?: string) => void;
  onCircuit: (change: "opened" | "closed", openFor?: number) => void;
};

/** Failures in a row that show that modern fails: a single failure may be due to its request. */
const ROW = 3;
/** Milliseconds from a failure to the call that may find out if modern is back. */
const RETRY = 5000;

/**
 * Watches the state of modern. Its circuit opens after three calls in a row that failed, and closes with the first
 * answer: legacy answers reads meanwhile, so a few failures of a single caller are enough.
 */
export const watchModern = ({ url, report, onCircuit }: ModernListeners) => {
  /** Requests in a row without an answer, and the failure of the last of three. */
  let misses = 0;
  let down: Reason | undefined;
  /** Calls for callers in a row that failed, and the reason of the last failure. */
  let failures = 0;
  let lastReason: Reason | undefined;
  let hasAnswered = false;
  let openedAt: number | undefined;
  let tryAt = 0;
  let trying = 0;
  const isFailing = (): boolean => down !== undefined || openedAt !== undefined;
  const tell = (): void => {
    const reason = down ?? (openedAt === undefined ? undefined : lastReason);
    const shown = reason === undefined || hasAnswered ? reason : neverAnswered(reason, "MODERN_URL", url);
    report(!isFailing(), shown?.why, shown?.details);
  };

  const close = (): void => {
    failures = 0;
    if (openedAt === undefined) return;
    onCircuit("closed", performance.now() - openedAt);
    openedAt = undefined;
    tell();
  };
  const fail = ({ reason }: Pick<UpstreamFailure, "reason">): void => {
    lastReason = reason;
    tryAt = performance.now() + RETRY;
    if (++failures < ROW || openedAt !== undefined) return;
    openedAt = performance.now();
    onCircuit("opened");
    tell();
  };

  return {
    /** A request got a complete answer. */
    answered(): void {
      hasAnswered = true;
      misses = 0;
      down = undefined;
      tell();
    },
    /** A request got no answer, or only a part of it. */
    failed(_: RequestLine, { kind, reason }: Pick<UpstreamFailure, "kind" | "reason">): void {
      if (kind === "unreachable") down = reason;
      else if ((kind === "timeout" || kind === "broken") && ++misses >= ROW) down = reason;
      tell();
    },
    /** True if its circuit is open, or the last requests did not reach it or its answers broke off. */
    isFailing,
    /** Closes the circuit: modern has answered a request that was not made by `execute`. */
    close,
    /** `half_open`: a call finds out if modern is back. */
    circuit: () => (openedAt === undefined ? "closed" : trying > 0 ? "half_open" : "open"),
    /**
     * Makes the call. `undefined`: the circuit is open and no call was made, unless it `isNeeded`.
     *
     * @throws As the call does.
     */
    async execute<T>(call: () => Promise<T>, isNeeded: boolean): Promise<T | undefined> {
      const isOpen = openedAt !== undefined;
      const isTry = isOpen && performance.now() >= tryAt;
      if (isOpen && !isTry) return isNeeded ? call() : undefined;
      // Later calls do not wait for a slow call.
      if (isTry) tryAt = performance.now() + RETRY;
      if (isTry) trying++;
      try {
        const answer = await call();
        close();
        return answer;
      } catch (error) {
        if (error instanceof ModernFailure || isItsFault(error)) fail(error);
        throw error;
      } finally {
        if (isTry) trying--;
      }
    },
  };
};
