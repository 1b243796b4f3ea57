import { hash, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { monotonic, withTimeout } from "../../operation/index.ts";
import { isConnectionFailure, UpstreamFailure } from "./failure.ts";
import { subnetOf } from "./forwarding.ts";

/** An answer by which a backend says that it cannot answer; the breaker counts it as a failure. */
export class BackendFailure extends Error {
  override name = "BackendFailure";
}

/** Whether an error is the backend's fault. A request that was aborted, never sent, or has a large answer is not. */
export const isItsFault = (error: unknown): boolean =>
  error instanceof BackendFailure ||
  (error instanceof UpstreamFailure && !["overloaded", "aborted", "tooLarge", "crowded", "fault"].includes(error.kind));

/**
 * One call: its request, and its caller, known by a key or else by an address. `isPatient`: it may take long. Its
 * timeouts do not count, and it never probes an open circuit. `mayTry`: it may be sent while the backend fails, since
 * nothing is stored for it.
 */
export type Attempt = {
  request: () => string;
  caller: { key?: string | undefined; client?: string | undefined };
  isPatient?: true;
  mayTry?: boolean;
};

/** Called when the circuit has opened, or has closed again after so many milliseconds. */
type OnCircuitChange = (change: "opened" | "closed", openFor?: number) => void;

/**
 * What the end of a call says of the backend. `unconnected`: no request could be sent. `nothing`: it does not show
 * whether the backend fails.
 */
type CallEnd = "answered" | "failed" | "unconnected" | "nothing";

const endOf = async (running: Promise<unknown>, isPatient = false): Promise<CallEnd> => {
  try {
    await running;
    return "answered";
  } catch (error) {
    if (isConnectionFailure(error)) return "unconnected";
    if (isPatient && error instanceof UpstreamFailure && error.kind === "timeout") return "nothing";
    if (isItsFault(error)) return "failed";
    return error instanceof UpstreamFailure && error.kind === "tooLarge" ? "answered" : "nothing";
  }
};

/** Milliseconds from opening until one call may find out whether the backend is back, and that it may take for that. */
const RETRY = 5_000;
/**
 * Milliseconds for which a caller whose attempt failed while the circuit was open makes no further
 * attempt, so that others do.
 */
const OTHERS_FIRST = 15_000;
/**
 * What opens a circuit: in so many seconds so many calls at least, of which most failed, with failures of so many
 * callers and requests. With `callers: 1` the failures of any one caller open it.
 */
export type OpensAfter = { seconds: number; calls: number; callers: number };

/** One caller cannot cause it. */
const OUTAGE: OpensAfter = { seconds: 10, calls: 5, callers: 3 };

/** The circuit opens in an outage. After five seconds one call finds out whether the backend is back. */
export const openBreaker = (onChange: OnCircuitChange = () => undefined, outage: OpensAfter = OUTAGE) => {
  const { seconds, callers } = outage;
  const salt = randomBytes(16).toString("hex");
  const recent = openCounts(outage);
  /** Of each caller the last request that failed. */
  const failures = new LRUCache<string, string>({ max: 100, ttl: seconds * 1000, perf: monotonic });
  let connections = 0;
  let openedAt: number | undefined;
  let probeAt = 0;
  let isProbing = false;
  let barred: { caller: string; until: number } | undefined;

  // Legacy ignores the case of keys: else one key would be as many callers as it has spellings.
  const callerOf = ({ key, client = "" }: Attempt["caller"]): string =>
    key === undefined ? `client ${subnetOf(client)}` : `key ${hash("sha256", salt + key.toLowerCase(), "base64")}`;

  /** Counts a call. True where it makes an outage: most calls fail, for enough callers and requests. */
  const note = (end: CallEnd, { request, caller }: Attempt): boolean => {
    if (end === "nothing") return false;
    recent.add(end !== "answered");
    if (end === "answered") return false;
    const connection = `connection ${connections % callers}`;
    if (end === "unconnected") connections++;
    if (end === "failed") failures.set(callerOf(caller), hash("sha256", request(), "base64"));
    else failures.set(connection, connection);
    return recent.areMostFailures() && new Set(failures.values()).size >= callers;
  };
  const open = (): void => {
    probeAt = performance.now() + RETRY;
    // A probe that fails is no change.
    if (openedAt !== undefined) return;
    openedAt = performance.now();
    onChange("opened");
  };
  const close = (): void => {
    if (openedAt === undefined) return;
    onChange("closed", performance.now() - openedAt);
    openedAt = undefined;
    recent.clear();
    failures.clear();
  };
  const mayProbe = (caller: Attempt["caller"]): boolean => {
    // The others do not wait for the probe.
    if (isProbing || performance.now() < probeAt) return false;
    // Otherwise the caller of a request that breaks the backend could keep the circuit open.
    return barred === undefined || performance.now() >= barred.until || callerOf(caller) !== barred.caller;
  };

  return {
    /** Closes the circuit: the backend has answered a request that was not made by `execute`. */
    close,
    /** `half_open`: one call finds out whether the backend is back. */
    circuit: () => (openedAt === undefined ? "closed" : isProbing ? "half_open" : "open"),
    /**
     * Makes the call and passes its result on. `undefined`: the circuit is open and no call was made.
     *
     * @throws As the call does.
     */
    async execute<T>(attempt: Attempt, call: () => Promise<T>): Promise<T | undefined> {
      if (openedAt === undefined) {
        const running = call();
        const isOutage = note(await endOf(running, attempt.isPatient), attempt);
        // A call that ends after it opened decides nothing about the probe.
        if (openedAt === undefined && isOutage) open();
        return running;
      }
      if (attempt.isPatient === true || !mayProbe(attempt.caller)) return undefined;
      isProbing = true;
      const running = call();
      const end = await withTimeout(endOf(running), RETRY);
      isProbing = false;
      if (end === "answered") close();
      // A late one still gets its answer. Of one that says nothing the place is free at once.
      else if (end !== "nothing") {
        note(end === "late" ? "failed" : end, attempt);
        open();
        if (end !== "unconnected")
          barred = { caller: callerOf(attempt.caller), until: performance.now() + OTHERS_FIRST };
      }
      return running;
    },
  };
};

const openCounts = ({ seconds: window, calls }: OpensAfter) => {
  let seconds: { second: number; calls: number; failures: number }[] = [];
  const sum = (of: "calls" | "failures"): number => seconds.reduce((all, one) => all + one[of], 0);
  return {
    add(isFailure: boolean): void {
      const second = Math.floor(performance.now() / 1000);
      seconds = seconds.filter((one) => one.second > second - window);
      let last = seconds.at(-1);
      if (last?.second !== second) seconds.push((last = { second, calls: 0, failures: 0 }));
      last.calls++;
      if (isFailure) last.failures++;
    },
    /** Whether most of them are failures, and they are enough. */
    areMostFailures: (): boolean => sum("calls") >= calls && sum("failures") > sum("calls") / 2,
    clear: (): void => void (seconds = []),
  };
};
