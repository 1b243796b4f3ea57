import type { FailureKind } from "./failure.ts";

/** What requests and connections show of an upstream. */
export type UpstreamHealth = {
  /** It has begun an answer. */
  answered(): void;
  /** A request got no answer, or not all of it. */
  failed(kind: FailureKind): void;
  /** It has shown a certificate that is valid until then, as TLS writes it (`Jan  1 00:00:00 2030 GMT`). */
  certified(validTo: string): void;
  /** Seconds since the epoch at which its certificate expires; `undefined`: none was seen. */
  certificateExpiry: () => number | undefined;
};

/** Answers that took too long or broke off, one after the other, that mean an outage: one alone may be due to its request. */
const FAILURES = 3;

/** Opens the health of an upstream that counts as up. `report`: whether it is up, and what failed. */
export const openUpstreamHealth = (report: (isUp: boolean, why?: string) => void): UpstreamHealth => {
  let failures = 0;
  let expiry: number | undefined;
  return {
    answered() {
      failures = 0;
      report(true);
    },
    failed(kind) {
      if (kind === "unreachable") report(false, "it cannot be reached");
      else if ((kind === "timeout" || kind === "broken") && ++failures >= FAILURES)
        report(false, kind === "timeout" ? "it takes too long to answer" : "it breaks off its answers");
    },
    certified(validTo) {
      const time = Date.parse(validTo);
      if (!Number.isNaN(time)) expiry = time / 1000;
    },
    certificateExpiry: () => expiry,
  };
};
