import { setTimeout as sleep } from "node:timers/promises";
import type { LegacyFailure } from "./readRow.ts";

/** Milliseconds until the second attempt and the longest wait. A refused key is tried again after 60 times the first. */
const FIRST_WAIT = 1000;
const MAX_WAIT = 60_000;
/** After so many failures, `failsAlone` checks whether only this request fails. */
const MAX_FAILURES = 3;

/** How long retries continue, and the receiver of failures. */
export type RetrySettings = {
  /** False: the result is not needed any more. */
  goesOn: () => boolean;
  /** Called with each failure, and with `undefined` after a success. */
  onFailure: (failure: LegacyFailure | undefined) => void;
  /** Ends a wait. */
  signal: AbortSignal;
  firstWait?: number | undefined;
};

/**
 * Repeats a request until legacy answers. Gives `undefined` when the result is not needed any more, and the failure when it is this request's
 * alone: after `maxFailures`, if `failsAlone` says so.
 */
export type RetryUntil = <T extends { ok: true }>(
  attempt: () => Promise<T | LegacyFailure>,
  failsAlone?: () => Promise<boolean>,
  maxFailures?: number,
) => Promise<T | LegacyFailure | undefined>;

/** Makes a function that retries. cockatiel's policy does not end a wait when its signal aborts, which would hold up a stop. */
export const openRetryUntil =
  ({ goesOn, onFailure, signal, firstWait = FIRST_WAIT }: RetrySettings): RetryUntil =>
  async (attempt, failsAlone, maxFailures = MAX_FAILURES) => {
    for (let failures = 0; goesOn();) {
      const result = await attempt();
      if (!goesOn()) return undefined;
      onFailure(result.ok ? undefined : result);
      if (result.ok) return result;
      const isRefused = result.kind === "refused";
      if (!isRefused && ++failures >= maxFailures && (await failsAlone?.())) {
        onFailure(undefined);
        return result;
      }
      const wait = isRefused ? firstWait * 60 : Math.min(firstWait * 2 ** (failures - 1), MAX_WAIT);
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return undefined;
  };
