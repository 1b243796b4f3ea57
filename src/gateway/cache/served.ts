import type { Answer, ForOne } from "../../catalogue/index.ts";
import type { CacheStatus } from "../../operation/index.ts";
import type { CacheKey } from "./cacheRequest.ts";
import type { Entry } from "./entry.ts";

/** The header `Gateway-Decision`: the stage of the migration, the backend that answered, and the reason. */
export type Decision = { stage: string; backend: string; bucket?: number; reason: string };

/** An answer on its way to the client, and how it came about. */
export type Served = {
  answer: Answer;
  how: CacheStatus;
  /** The reason why the answer is for this caller only; absent if it is not, or if it follows from the status. */
  forOne?: ForOne | undefined;
  /** The same answer as a cache entry, if it is stored. */
  entry?: Entry;
  /** The answer is not stored, but a later answer to the same request may be. */
  cacheable?: true;
  headers?: readonly string[];
  /** Milliseconds that the backends took; `took`: milliseconds of the whole request. */
  upstream?: number;
  took?: number;
  /** The key under which a GET of the same path finds the answer in the cache. */
  cacheKey?: CacheKey;
  /** The backend that answered, and why; absent if legacy answered because the endpoint is not migrated. */
  decision?: Decision;
  /** The answer is a list that may lack rows which the caller may see. */
  isIncomplete?: boolean;
  /** Another caller may get another backend's answer: no shared cache may reuse this answer. */
  isDivided?: boolean;
  /** Called when the answer has been sent. */
  afterwards?: () => void;
};

/** The cache status of a hit on a fresh entry. */
export const HIT: CacheStatus = { hit: true };

/** The decision for an endpoint that is not migrated. */
export const legacyDecision: Decision = { stage: "legacy", backend: "legacy", reason: "stage" };

/** True if another caller may get another backend's answer to the same request. */
export const dividesCallers = ({ stage, reason }: Decision): boolean => stage === "canary" || reason === "forced";

/** A stored answer in place of none: the backend fails. */
export const staleAnswer = (entry: Entry): Served => ({
  answer: entry,
  entry,
  how: { fwd: "stale", detail: "stale-if-error" },
});

/**
 * An answer for one caller only. `fwd`: the reason why a backend was asked (RFC 9211); absent if the gateway answered
 * without a backend.
 */
export const uncached = (answer: Answer, fwd?: "method" | "bypass"): Served => ({
  answer,
  how: fwd === undefined ? { detail: "settled" } : { fwd },
});
