import { UpstreamFailure } from "./failure.ts";

/** An answer by which a backend says that it cannot answer; the breaker counts it as a failure. */
export class BackendFailure extends Error {
  override name = "BackendFailure";
}

/** Whether an error is the backend's fault. A request that was aborted, never sent, or has a large answer is not. */
export const isItsFault = (error: unknown): boolean =>
  error instanceof BackendFailure ||
  (error instanceof UpstreamFailure && !["overloaded", "aborted", "tooLarge", "crowded", "fault"].includes(error.kind));

/** Called when the circuit has opened, or has closed again after so many milliseconds. */
type OnCircuitChange = (change: "opened" | "closed", openFor?: number) => void;

/** Milliseconds from one failure to the call that may find out whether the backend is back. */
const RETRY = 5000;

/** A circuit that opens after so many failures in a row, and closes with the first answer. */
export const openBreaker = (onChange: OnCircuitChange, failuresUntilOpen: number) => {
  let failures = 0;
  let openedAt: number | undefined;
  let tryAt = 0;
  let trying = 0;

  const close = (): void => {
    failures = 0;
    if (openedAt === undefined) return;
    onChange("closed", performance.now() - openedAt);
    openedAt = undefined;
  };
  const fail = (): void => {
    tryAt = performance.now() + RETRY;
    if (++failures < failuresUntilOpen || openedAt !== undefined) return;
    openedAt = performance.now();
    onChange("opened");
  };
  return {
    /** Closes the circuit: the backend has answered a request that was not made by `execute`. */
    close,
    /** `half_open`: one call finds out whether the backend is back. */
    circuit: () => (openedAt === undefined ? "closed" : trying > 0 ? "half_open" : "open"),
    /**
     * Makes the call and passes its result on. `undefined`: the circuit is open and no call was made.
     *
     * @throws As the call does.
     */
    async execute<T>(call: () => Promise<T>): Promise<T | undefined> {
      const isTry = openedAt !== undefined;
      if (isTry && performance.now() < tryAt) return undefined;
      // The next one does not wait for a slow one.
      if (isTry) tryAt = performance.now() + RETRY;
      if (isTry) trying++;
      try {
        const answer = await call();
        close();
        return answer;
      } catch (error) {
        if (isItsFault(error)) fail();
        throw error;
      } finally {
        if (isTry) trying--;
      }
    },
  };
};
