import type { ResultCounts } from "../../libraries/compare/difference.ts";
import { counted, formatNumber } from "../../libraries/ui/wording.ts";
import type { Gate, Stage } from "./stage.ts";

/** Distinct requests by their latest result. `lower`: the lower Wilson bound of the good share of them. */
export type Parity = ResultCounts & { lower: number };

/** The evidence on an endpoint from comparisons and answers: since its last move, except `all`. */
export type Evidence = {
  /** It writes: such requests are never compared. */
  isWrite: boolean;
  all: Parity;
  /** The objection of the evidence on old clients, if they follow the stage: all of it counts in any stage. */
  oldClients?: string | undefined;
  /** Distinct requests compared since the move, and minutes since the move. */
  requests: number;
  minutes: number;
  /** `conclusive`: those of them that are no drift. `good`: those of these without an unexplained difference. */
  good: number;
  conclusive: number;
  /** The same of the last 200 comparisons, so that a long good record does not hide recent failures. */
  recent: { good: number; conclusive: number };
  /** The last 200 requests to modern: their number, how many failed, and the milliseconds of the others. */
  modern: { asked: number; failed: number; times: readonly number[] };
  /** Distinct requests that differ without a reason since the move, also from before a restart. */
  unexplained: number;
  /** Minutes since the move in which most of modern's answers failed. */
  failedMinutes: number;
  /** Minutes since the gate last demoted it. */
  sinceDemotion?: number | undefined;
};

/**
 * The stage to which the gate moves an endpoint, if it does, and the reason. `isFailing`: modern so far looks worse
 * than the gate allows.
 */
export type GateDecision = { reason: string; to?: Stage; isFailing: boolean };

/** The shares of callers that canary goes through, in percent. */
const steps = [5, 10, 25, 50, 100] as const;
/** The least number of answers from which a share or a quantile is computed. */
const MIN_TRIALS = 20;

/** The share of answers above a p95. */
const TAIL = 0.05;

const slowerThan = (bound: number, times: readonly number[]): number => times.filter((ms) => ms > bound).length;

/** 0.9987 -> `99.87 %`: gates need two decimals, and the audit log holds these texts. */
const twoDecimals = (share: number): string => `${(share * 100).toFixed(2)} %`;

/**
 * Decides whether an endpoint moves now: down if modern is proven worse than the gate allows, up if
 * it is proven good enough.
 */
export const decideGate = (gate: Gate, at: Stage, evidence: Evidence): GateDecision => {
  if (at.stage === "legacy") return { reason: "held: nothing is compared in legacy", isFailing: false };
  const worse = whyWorse(gate, evidence);
  const isFailing = worse !== undefined || looksWorse(gate, evidence);
  if (gate.paused) return { reason: "paused: it moves nothing", isFailing };
  if (worse !== undefined) {
    // In shadow modern is compared, but answers no caller.
    return at.stage === "shadow"
      ? { reason: `held: ${worse}`, isFailing }
      : { reason: worse, to: { stage: "shadow", share: 100 }, isFailing };
  }
  const to = nextStep(at);
  if (to === undefined) return { reason: "at the top", isFailing };
  const missing = whyNotAdvance(at, evidence, gate);
  return missing === undefined
    ? {
        reason: `parity at least ${twoDecimals(wilson(evidence.good, evidence.conclusive).lower)} over ${evidence.requests} distinct requests`,
        to,
        isFailing,
      }
    : { reason: `held: ${missing}`, isFailing };
};

/** Numbers of differing requests and of failed minutes that take a canary without a gate in `STAGES` back to shadow. */
const MAX_DIFFERING = 3;
const MAX_FAILED_MINUTES = 2;

/** Decides for an endpoint without a gate in `STAGES`: a canary goes back to shadow if modern is wrong or fails. */
export const decideWithoutGate = (at: Stage, { unexplained, failedMinutes }: Evidence): GateDecision | undefined => {
  if (at.stage !== "canary") return undefined;
  const to: Stage = { stage: "shadow", share: 100 };
  if (unexplained >= MAX_DIFFERING)
    return { reason: `${unexplained} distinct requests differ without a reason`, to, isFailing: true };
  if (failedMinutes >= MAX_FAILED_MINUTES)
    return { reason: `most of modern's answers failed in ${failedMinutes} different minutes`, to, isFailing: true };
  return { reason: `held: it goes back at ${MAX_DIFFERING} requests that differ, and never up`, isFailing: false };
};

/** True if modern was demoted recently, or looks worse than the gate allows, even without proof. */
const looksWorse = (gate: Gate, { good, conclusive, modern, sinceDemotion = gate.hold }: Evidence): boolean =>
  sinceDemotion < gate.hold ||
  (conclusive >= MIN_TRIALS && good / conclusive < gate.parity) ||
  (modern.asked >= MIN_TRIALS && modern.failed / modern.asked > gate.errorRate) ||
  (modern.times.length >= MIN_TRIALS && slowerThan(gate.p95, modern.times) / modern.times.length > TAIL);

/**
 * Demotion needs proof that modern is worse, promotion proof that it is not. In between, the
 * endpoint stays at its stage.
 */
const whyWorse = ({ parity, errorRate, p95 }: Gate, { recent, modern }: Evidence): string | undefined => {
  const { upper } = wilson(recent.good, recent.conclusive);
  if (recent.conclusive >= MIN_TRIALS && upper < parity)
    return `parity at most ${twoDecimals(upper)} over the last ${recent.conclusive} comparisons, needed ${twoDecimals(parity)}`;
  const failing = wilson(modern.failed, modern.asked).lower;
  if (modern.asked >= MIN_TRIALS && failing > errorRate)
    return `at least ${twoDecimals(failing)} of modern's answers fail, allowed ${twoDecimals(errorRate)}`;
  const slow = wilson(slowerThan(p95, modern.times), modern.times.length).lower;
  if (modern.times.length >= MIN_TRIALS && slow > TAIL)
    return `at least ${twoDecimals(slow)} of modern's answers take more than ${p95} ms, allowed ${twoDecimals(TAIL)}`;
  return undefined;
};

/**
 * The reason why modern may not get more of the callers, as a clause; `undefined`: it may. A gate has bounds for the
 * evidence since the last move. By hand, any unexplained difference speaks against it, also from before the move.
 */
export const whyNotAdvance = (at: Pick<Stage, "stage">, evidence: Evidence, gate?: Gate): string | undefined => {
  if (evidence.isWrite) return "writes are never compared";
  const why = gate === undefined ? whyNotExplained(at, evidence.all) : whyNotProven(gate, evidence);
  const reasons = [why, evidence.oldClients].filter((reason) => reason !== undefined);
  // A reason to move anyway holds against both.
  return reasons.length === 0 ? undefined : reasons.join("; ");
};

const whyNotExplained = ({ stage }: Pick<Stage, "stage">, { compared, drift, unexplained }: Parity) => {
  const conclusive = compared - drift;
  if (conclusive === 0)
    return stage === "legacy" ? "nothing has been compared (put it in shadow first)" : "nothing has been compared yet";
  if (unexplained === 0) return undefined;
  const differ = unexplained === 1 ? "differs" : "differ";
  return `${formatNumber(unexplained)} of ${counted(conclusive, "compared request")} ${differ} without a reason (fix modern, or allow the differences in the ledger)`;
};

const whyNotProven = (
  gate: Gate,
  { requests, minutes, good, conclusive, modern, sinceDemotion }: Evidence,
): string | undefined => {
  if (sinceDemotion !== undefined && sinceDemotion < gate.hold)
    return `${Math.ceil(gate.hold - sinceDemotion)} minutes after a demotion are left`;
  if (requests < gate.requests) return `${requests} of ${gate.requests} distinct requests compared`;
  if (minutes < gate.minutes) return `${minutes.toFixed(1)} of ${gate.minutes} minutes`;
  const { lower } = wilson(good, conclusive);
  if (lower < gate.parity) return `a parity of ${twoDecimals(lower)} is proven, ${twoDecimals(gate.parity)} is needed`;
  if (modern.asked > 0 && modern.failed / modern.asked > gate.errorRate)
    return `${twoDecimals(modern.failed / modern.asked)} of modern's answers fail, allowed ${twoDecimals(gate.errorRate)}`;
  const slow = slowerThan(gate.p95, modern.times) / Math.max(1, modern.times.length);
  return slow > TAIL
    ? `${twoDecimals(slow)} of modern's answers take more than ${gate.p95} ms, allowed ${twoDecimals(TAIL)}`
    : undefined;
};

/** The next stage on the way to modern; `undefined` at its end. */
export const nextStep = ({ stage, share }: Stage): Stage | undefined => {
  if (stage === "legacy") return { stage: "shadow", share: 100 };
  if (stage === "shadow") return { stage: "canary", share: steps[0] };
  if (stage !== "canary") return undefined;
  const next = steps.find((step) => step > share);
  return next === undefined ? { stage: "modern", share: 100 } : { stage: "canary", share: next };
};

/** Two-sided 95 %. */
const Z = 1.96;

/**
 * The bounds of a share that was observed `good` times in `of` trials (Wilson's score interval); 0 to 1 without trials.
 */
export const wilson = (good: number, of: number): { lower: number; upper: number } => {
  if (of === 0) return { lower: 0, upper: 1 };
  const share = good / of;
  const z2 = Z * Z;
  const middle = share + z2 / (2 * of);
  const spread = Z * Math.sqrt((share * (1 - share) + z2 / (4 * of)) / of);
  const whole = 1 + z2 / of;
  return { lower: Math.max(0, (middle - spread) / whole), upper: Math.min(1, (middle + spread) / whole) };
};
