import { isItsFault, type RequestLine, type UpstreamFailure } from "../../src/gateway/index.ts";

/** An answer by which modern says that it cannot answer. */
export class ModernFailure extends Error {
  override name = "ModernFailure";
}

/** `report`: whether modern is up, and what failed. `onCircuit`: it opened, or closed after so many milliseconds. */
type ModernListeners = {
  report: (isUp: boolean, why?: string) => void;
  onCircuit: (change: "opened" | "closed", openFor?: number) => void;
};

/** Failures in a row that say that modern fails: one alone may be due to its request. */
const ROW = 3;
/** Milliseconds from one failure to the call that may find out whether modern is back. */
const RETRY = 5000;

/**
 * Keeps how modern is. Its circuit opens after three calls in a row that failed, and closes with the first answer:
 * legacy answers reads meanwhile, so that a few failures of one caller are enough.
 */
export const watchModern = ({ report, onCircuit }: ModernListeners) => {
  /** Requests in a row without an answer, and what became of the last of three. */
  let misses = 0;
  let down: string | undefined;
  /** Calls for callers in a row that failed. */
  let failures = 0;
  let openedAt: number | undefined;
  let tryAt = 0;
  let trying = 0;
  const isFailing = (): boolean => down !== undefined || openedAt !== undefined;
  const tell = (): void => report(!isFailing(), down ?? (openedAt === undefined ? undefined : "its last calls failed"));

  const close = (): void => {
    failures = 0;
    if (openedAt === undefined) return;
    onCircuit("closed", performance.now() - openedAt);
    openedAt = undefined;
    tell();
  };
  const fail = (): void => {
    tryAt = performance.now() + RETRY;
    if (++failures < ROW || openedAt !== undefined) return;
    openedAt = performance.now();
    onCircuit("opened");
    tell();
  };

  return {
    /** A request got a whole answer. */
    answered(): void {
      misses = 0;
      down = undefined;
      tell();
    },
    /** A request got no answer, or not all of it. */
    failed(_: RequestLine, { kind }: Pick<UpstreamFailure, "kind">): void {
      if (kind === "unreachable") down = "it cannot be reached";
      else if ((kind === "timeout" || kind === "broken") && ++misses >= ROW)
        down = kind === "timeout" ? "it takes too long to answer" : "it breaks off its answers";
      tell();
    },
    /** Its circuit is open, or the last requests did not reach it or its answers broke off. */
    isFailing,
    /** Closes the circuit: modern has answered a request that was not made by `execute`. */
    close,
    /** `half_open`: a call finds out whether modern is back. */
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
      // The next one does not wait for a slow one.
      if (isTry) tryAt = performance.now() + RETRY;
      if (isTry) trying++;
      try {
        const answer = await call();
        close();
        return answer;
      } catch (error) {
        if (error instanceof ModernFailure || isItsFault(error)) fail();
        throw error;
      } finally {
        if (isTry) trying--;
      }
    },
  };
};
