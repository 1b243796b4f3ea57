import type { Answer } from "../../catalogue/index.ts";
import type { CacheStatus } from "../../operation/index.ts";
import type { CacheKey } from "./cacheRequest.ts";
import type { Entry } from "./entry.ts";

/** Which backend answered, in which stage of a migration, and why: the header `Gateway-Decision`. */
export type Decision = { stage: string; backend: string; bucket?: number; reason: string };

/** An answer on its way to the client, and how it came about. */
export type Served = {
  answer: Answer;
  how: CacheStatus;
  /** The status by which it is stored, where it is not its own. */
  judged?: number;
  /** The backend was not asked for it. */
  isUnasked?: boolean;
  /** The backend limits this caller. */
  isLimited?: boolean;
  /** The same answer, where it is stored. */
  entry?: Entry;
  /** The answer is not stored, but a later one to the same request may be. */
  cacheable?: true;
  headers?: readonly string[];
  /** Milliseconds that the backends took, and that the whole request took. */
  upstream?: number;
  took?: number;
  /** Where a GET of the same path finds the answer in the cache. */
  cacheKey?: CacheKey;
  /** Who answered, unless that is legacy because nothing is migrated. */
  decision?: Decision;
  /** A list that may lack rows which the caller may see. */
  isIncomplete?: boolean;
  /** Another caller may get another backend's answer: no cache between may share it. */
  isDivided?: boolean;
  /** What is to be done when the answer has been sent. */
  afterwards?: () => void;
};

/** How a plain hit came about. */
export const HIT: CacheStatus = { hit: true };

/**
 * How an endpoint that is not migrated answers.
 *
 * @example
 * const decide: Additions["decide"] = () => legacyDecision;
 */
export const legacyDecision: Decision = { stage: "legacy", backend: "legacy", reason: "stage" };

/**
 * An answer for one caller alone. `fwd`: why a backend was asked (RFC 9211); absent where the
 * gateway answered by itself.
 */
export const uncached = (answer: Answer, fwd?: "method" | "bypass"): Served => ({
  answer,
  how: fwd === undefined ? { detail: "settled" } : { fwd },
});
