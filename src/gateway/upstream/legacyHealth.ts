import type { Judgement } from "../../catalogue/index.ts";
import type { Reason } from "../../operation/index.ts";
import { codeOf, type RequestLine, UpstreamFailure } from "./failure.ts";

/** What the probe came to: an answer and its judgement, or none. `details`: what the answer has, in words. */
export type Probed = { status: number; judgement: Judgement | undefined; details?: string } | UpstreamFailure;

/** A request as it is sent to legacy. */
export type SentRequest = RequestLine & { headers?: unknown };

/**
 * How legacy is. `suspected`: the probe that is under way may show that it fails. `failing`: what can wait is not sent.
 * `refusing`: legacy, or what stands before it, answers the gateway with this status.
 */
type Is =
  | { is: "well" | "suspected" }
  | ({ is: "failing"; because: Because; owns: number } & Reason)
  | ({ is: "refusing" } & Refusal);

/** The status of a refusal, and what the answer has in words. */
type Refusal = Pick<Reason, "details"> & { status: number };

/** `certain`: no request can have another answer. `answer`: not legacy's own. `late`: none came. */
type Because = "certain" | "answer" | "late";

/** What is remembered beside it. Times are on the clock of `performance.now()`. */
type Memory = {
  /** Answers in a row that are not legacy's own; when legacy last gave one. */
  misses: number;
  ownAt: number;
  /** The last request that legacy has answered, or until then the last one. The probe is sent with its scheme. */
  example: SentRequest | undefined;
  /** Requests get answers of legacy itself, and the probe does not. `isSure`: a later probe has shown it, too. */
  differs: { since: number; isSure: boolean } | undefined;
  /** Times that requests have overruled the probe since legacy itself last answered it. */
  overruled: number;
  /** The probe was sent then, or is to be sent then; and when the last one was over. */
  probe: { is: "asked" | "due"; at: number } | undefined;
  probedAt: number;
  /** Probes in a row that legacy has not answered, and milliseconds for the next one. */
  unanswered: number;
  patience: number;
};

/** All that is known of legacy. What is to be done follows from it: `probe` says when to probe. */
export type LegacyHealth = Is & Memory;

/** What happens to a request or to the probe, or the time of the next probe (`due`). */
export type HealthEvent =
  /** A request got an answer of legacy itself. `isNew`: it was sent since legacy has been failing. */
  | { type: "own"; request: SentRequest; isNew: boolean }
  /**
   * A request got an answer that is not, or a part of one, or took too long; it found no connection; or it has waited
   * for five seconds, in which legacy has answered no other.
   */
  | { type: "miss" | "unreachable" | "silence"; request: SentRequest }
  /** An answer has begun within five seconds. */
  | { type: "quick" }
  | { type: "due" }
  /** `undefined`: it has thrown. */
  | { type: "probed"; probed: Probed | undefined };

/** Answers in a row by which the probe is sent, or overruled. */
const ROW = 3;
/** Milliseconds from one probe to the next at least. */
const AT_MOST_EVERY = 1000;
/** Milliseconds to the next probe until legacy has answered it: a restart is over soon. The last one repeats. */
const PAUSES = [1000, 2000, 5000];
/** Milliseconds for the first byte of an answer, and for the probe; and for the probe of a slow legacy at most. */
export const FIRST_BYTE = 5000;
const MAX_PATIENCE = 30_000;
/**
 * Milliseconds at most in which requests got no answer of legacy itself until a probe that was overruled is believed.
 * It is five seconds at first, and twice as long each time, so that pages caused by one client begin few failures.
 */
const MAX_QUIET = 60_000;

/** Legacy before its first request. */
export const unknownHealth: LegacyHealth = {
  is: "well",
  misses: 0,
  ownAt: Number.NEGATIVE_INFINITY,
  example: undefined,
  differs: undefined,
  overruled: 0,
  probe: undefined,
  probedAt: Number.NEGATIVE_INFINITY,
  unanswered: 0,
  patience: FIRST_BYTE,
};

/** How legacy is after an event. Nothing else decides it; `legacyHealth.test.ts` has it as a table. */
export const afterEvent = (before: LegacyHealth, event: HealthEvent, now: number): LegacyHealth => {
  const isFirst = before.ownAt === Number.NEGATIVE_INFINITY && "request" in event;
  const health = isFirst ? { ...before, example: event.request } : before;
  switch (event.type) {
    case "own": {
      const answered = { ...health, misses: 0, ownAt: now, example: event.request };
      return answered.is === "failing" ? afterOwn(answered, event.isNew, now) : answered;
    }
    case "miss": {
      const misses = health.misses + 1;
      if (health.is === "failing") return { ...health, misses, owns: 0 };
      return misses < ROW ? { ...health, misses } : suspect({ ...health, misses }, now);
    }
    case "unreachable":
      return suspect(health, now);
    case "silence":
      return suspect({ ...health, misses: Math.max(health.misses, ROW) }, now);
    case "quick":
      return { ...health, patience: FIRST_BYTE };
    case "due":
      return ask(health, now);
    default:
      return afterProbe(health, resultOf(event.probed), now);
  }
};

const suspect = (health: LegacyHealth, now: number): LegacyHealth => {
  // While it fails, the probe goes by its pauses.
  return health.is === "failing" ? health : askSoon(health, now);
};

const askSoon = (health: LegacyHealth, now: number): LegacyHealth => {
  if (health.probe?.is === "asked") return health;
  const at = health.probedAt + AT_MOST_EVERY;
  return now < at ? { ...health, probe: { is: "due", at } } : ask(health, now);
};

const ask = (health: LegacyHealth, now: number): LegacyHealth => {
  if (health.probe?.is === "asked") return health;
  const asked: LegacyHealth = { ...health, probe: { is: "asked", at: now } };
  // A probe that is not believed holds no request up.
  return health.is === "well" && health.differs === undefined ? { ...asked, is: "suspected" } : asked;
};

/** Requests may be faster than the probe to find legacy back. */
const afterOwn = (health: Extract<LegacyHealth, { is: "failing" }>, isNew: boolean, now: number): LegacyHealth => {
  // It is slow, and has not stopped. The next probe has longer.
  if (health.because === "late") {
    const probe = health.probe?.is === "due" ? undefined : health.probe;
    return { ...become(health, { is: "well" }), probe, patience: Math.min(2 * health.patience, MAX_PATIENCE) };
  }
  const owns = isNew ? health.owns + 1 : health.owns;
  // A write may be the first to find legacy back: the reads after it need not wait for the next pause.
  if (owns < ROW) return askSoon({ ...health, owns }, now);
  const differs = { since: now, isSure: false };
  const well = { ...become(health, { is: "well" }), unanswered: 0, differs, overruled: health.overruled + 1 };
  return probeLater(well, now);
};

/** Requests and the probe agree again: legacy has answered none of them for a while. */
const agrees = ({ misses, ownAt, overruled }: LegacyHealth, now: number): boolean =>
  misses >= ROW && now - ownAt >= Math.min(FIRST_BYTE * 2 ** (overruled - 1), MAX_QUIET);

const afterProbe = (before: LegacyHealth, result: ProbeResult, now: number): LegacyHealth => {
  const sentAt = before.probe?.at ?? now;
  const health: LegacyHealth = { ...before, probe: undefined, probedAt: now };
  if (result === "own") {
    const patience = now - sentAt < FIRST_BYTE ? FIRST_BYTE : health.patience;
    return { ...become(health, { is: "well" }), differs: undefined, overruled: 0, patience };
  }
  if (result !== "nothing" && "status" in result) return probeLater(become(health, { is: "refusing", ...result }), now);
  if (result === "nothing" || isRefuted(health, result.because, sentAt))
    return probeLater(health.is === "suspected" ? become(health, { is: "well" }) : health, now);
  const { differs } = health;
  const owns = health.is === "failing" ? health.owns : 0;
  if (differs === undefined || result.because === "certain")
    return probeLater(become(health, { is: "failing", owns, ...result }), now);
  if (agrees(health, now))
    return probeLater({ ...become(health, { is: "failing", owns, ...result }), differs: undefined }, now);
  const isSure = differs.isSure || (result.because === "answer" && sentAt > differs.since);
  const well = health.is === "well" ? health : become(health, { is: "well" });
  return probeLater({ ...well, differs: { ...differs, isSure } }, now);
};

/** A late probe says nothing where legacy has answered a request since it was sent. */
const isRefuted = ({ is, ownAt }: LegacyHealth, because: Because, sentAt: number): boolean =>
  because === "late" && is !== "failing" && ownAt >= sentAt;

/** The memory that outlasts a change. */
const become = (before: LegacyHealth, is: Is): LegacyHealth => {
  const { ownAt, example, differs, overruled, probe, probedAt, patience } = before;
  const unanswered = before.is !== is.is && is.is !== "well" ? 0 : before.unanswered;
  return { ownAt, example, differs, overruled, probe, probedAt, patience, unanswered, misses: 0, ...is };
};

/** The probe is sent again until legacy itself has answered it. */
const probeLater = (health: LegacyHealth, now: number): LegacyHealth => {
  if ((health.is === "well" && health.differs === undefined) || health.probe?.is === "asked") return health;
  const pause = PAUSES[Math.min(health.unanswered, PAUSES.length - 1)] as number;
  return { ...health, unanswered: health.unanswered + 1, probe: { is: "due", at: now + pause } };
};

type ProbeResult = "own" | "nothing" | Refusal | (Reason & { because: Because });

/** Codes of errors by which the gateway itself lacks descriptors or ports, or closes. */
const ownLack = new Set(["EMFILE", "ENFILE", "EADDRNOTAVAIL", "EADDRINUSE", "UND_ERR_CLOSED", "UND_ERR_DESTROYED"]);

/** True where the gateway itself lacks what a connection needs, or closes. */
export const isOwnLack = ({ cause }: UpstreamFailure): boolean => ownLack.has(codeOf(cause));

const resultOf = (probed: Probed | undefined): ProbeResult => {
  if (probed === undefined) return "nothing";
  if (probed instanceof UpstreamFailure) {
    const { kind, reason } = probed;
    if (kind === "unreachable") return isOwnLack(probed) ? "nothing" : { ...reason, because: "certain" };
    if (kind === "timeout") return { ...reason, because: "late" };
    return kind === "broken" ? { ...reason, because: "answer" } : "nothing";
  }
  const { status, judgement, details } = probed;
  if (judgement === "own") return "own";
  if (judgement === "refused") return { status, details };
  if (judgement === undefined) return "nothing";
  // Of what is ill, only legacy itself has this status.
  return status === 412
    ? { why: "it has no database", details: "stopped, or without a free connection", because: "certain" }
    : { why: `it answers with status ${status}`, details, because: "answer" };
};
