import type { Judgement } from "../../catalogue/index.ts";
import type { Reason } from "../../operation/index.ts";
import { codeOf, type RequestUnderWay, UpstreamFailure } from "./failure.ts";

/** The result of the probe: an answer and its judgement, or a failure. `details`: describes the answer's body. */
export type Probed = { status: number; judgement: Judgement | undefined; details?: string } | UpstreamFailure;

/** A request as it is sent to legacy. */
type SentRequest = RequestUnderWay["request"];

/**
 * The state of legacy. `suspected`: the running probe may show that legacy fails. `failing`: requests that can wait are
 * not sent. `refusing`: legacy, or a server in front of it, answers the gateway with this status.
 */
type Is =
  | { is: "well" | "suspected" }
  | ({ is: "failing"; because: Because; owns: number } & Reason)
  | ({ is: "refusing" } & Refusal);

/** The status of a refusal, and a description of the answer's body. */
type Refusal = Pick<Reason, "details"> & { status: number };

/** `certain`: every request must fail. `answer`: the answer was not from legacy. `late`: no answer came. */
type Because = "certain" | "answer" | "late";

/** The memory besides the state. Times are on the clock of `performance.now()`. */
type Memory = {
  /** Answers in a row that are not from legacy itself; `ownAt`: the time of the last answer from legacy itself. */
  misses: number;
  ownAt: number;
  /** The last request that legacy answered; before its first answer, the last request. The probe uses its scheme. */
  example: SentRequest | undefined;
  /** Requests get answers from legacy itself, but the probe does not. `isSure`: a later probe has confirmed it. */
  differs: { since: number; isSure: boolean } | undefined;
  /** The number of times that requests have overruled the probe since legacy itself last answered it. */
  overruled: number;
  /** `at`: the time at which the probe was sent, or will be sent. `probedAt`: the end of the last probe. */
  probe: { is: "asked" | "due"; at: number } | undefined;
  probedAt: number;
  /** Probes in a row that legacy has not answered; `patience`: milliseconds that the next probe may take. */
  unanswered: number;
  patience: number;
};

/** The state of legacy, and the memory. The next action follows from it: `probe` gives the time of the next probe. */
export type LegacyHealth = Is & Memory;

/** An event of a request or of the probe; `due`: the time of the next probe has come. */
export type HealthEvent =
  /** A request got an answer from legacy itself. `isNew`: it was sent after legacy had begun to fail. */
  | { type: "own"; request: SentRequest; isNew: boolean }
  /**
   * `miss`: a request got an answer that is not from legacy, or only a part, or it took too long. `unreachable`: it
   * found no connection. `silence`: it has waited for five seconds, in which legacy has not answered any request.
   */
  | { type: "miss" | "unreachable" | "silence"; request: SentRequest }
  /** An answer has begun within five seconds. */
  | { type: "quick" }
  | { type: "due" }
  /** The probe is over. `undefined`: it has thrown. */
  | { type: "probed"; probed: Probed | undefined };

/** The number of answers in a row after which the probe is sent, or overruled. */
const ROW = 3;
/** The least number of milliseconds from one probe to the next. */
const MIN_INTERVAL = 1000;
/** Milliseconds to the next probe while legacy does not answer it: a restart is over soon. The last value repeats. */
const PAUSES = [1000, 2000, 5000];
/** Milliseconds for the first byte of an answer, and for the probe. `MAX_PATIENCE`: for the probe of a slow legacy. */
export const FIRST_BYTE = 5000;
const MAX_PATIENCE = 30_000;
/**
 * The longest time in milliseconds without an answer from legacy itself after which an overruled probe is believed. It
 * is five seconds at first and doubles each time: answers that one client provokes then rarely count as a failure.
 */
const MAX_QUIET = 60_000;

/** The state of legacy before its first request. */
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

/** The state of legacy after an event. Only this function decides it; `legacyHealth.test.ts` has it as a table. */
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
      return probeNow(health, now);
    default:
      return afterProbe(health, resultOf(event.probed), now);
  }
};

const suspect = (health: LegacyHealth, now: number): LegacyHealth => {
  // While legacy fails, `PAUSES` decides when to probe.
  return health.is === "failing" ? health : probeSoon(health, now);
};

const probeSoon = (health: LegacyHealth, now: number): LegacyHealth => {
  if (health.probe?.is === "asked") return health;
  const at = health.probedAt + MIN_INTERVAL;
  return now < at ? { ...health, probe: { is: "due", at } } : probeNow(health, now);
};

const probeNow = (health: LegacyHealth, now: number): LegacyHealth => {
  if (health.probe?.is === "asked") return health;
  const asked: LegacyHealth = { ...health, probe: { is: "asked", at: now } };
  // Requests do not wait for a probe that is not believed.
  return health.is === "well" && health.differs === undefined ? { ...asked, is: "suspected" } : asked;
};

/** The state after legacy itself answered a request: requests may find earlier than the probe that legacy is back. */
const afterOwn = (health: Extract<LegacyHealth, { is: "failing" }>, isNew: boolean, now: number): LegacyHealth => {
  // Legacy is slow, but has not stopped. The next probe may take longer.
  if (health.because === "late") {
    const probe = health.probe?.is === "due" ? undefined : health.probe;
    return { ...become(health, { is: "well" }), probe, patience: Math.min(2 * health.patience, MAX_PATIENCE) };
  }
  const owns = isNew ? health.owns + 1 : health.owns;
  // A write may be the first request that legacy answers: the reads after it do not wait for the end of the pause.
  if (owns < ROW) return probeSoon({ ...health, owns }, now);
  const differs = { since: now, isSure: false };
  const well = { ...become(health, { is: "well" }), unanswered: 0, differs, overruled: health.overruled + 1 };
  return probeLater(well, now);
};

/** True if requests and the probe agree again: legacy has answered no request for a while. */
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

/** True if a late probe has no meaning, because legacy has answered a request since the probe was sent. */
const isRefuted = ({ is, ownAt }: LegacyHealth, because: Because, sentAt: number): boolean =>
  because === "late" && is !== "failing" && ownAt >= sentAt;

/** The new state, with the part of the memory that outlasts a change. */
const become = (before: LegacyHealth, is: Is): LegacyHealth => {
  const { ownAt, example, differs, overruled, probe, probedAt, patience } = before;
  const unanswered = before.is !== is.is && is.is !== "well" ? 0 : before.unanswered;
  return { ownAt, example, differs, overruled, probe, probedAt, patience, unanswered, misses: 0, ...is };
};

/** Sets the time of the next probe: it is repeated until legacy itself answers. */
const probeLater = (health: LegacyHealth, now: number): LegacyHealth => {
  if ((health.is === "well" && health.differs === undefined) || health.probe?.is === "asked") return health;
  const pause = PAUSES[Math.min(health.unanswered, PAUSES.length - 1)] as number;
  return { ...health, unanswered: health.unanswered + 1, probe: { is: "due", at: now + pause } };
};

type ProbeResult = "own" | "nothing" | Refusal | (Reason & { because: Because });

/** Codes of errors that mean that the gateway itself lacks descriptors or ports, or closes. */
const ownLack = new Set(["EMFILE", "ENFILE", "EADDRNOTAVAIL", "EADDRINUSE", "UND_ERR_CLOSED", "UND_ERR_DESTROYED"]);

/** True if the gateway itself lacks descriptors or ports for a connection, or closes. */
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
  // Among the answers that are judged ill, only those of legacy itself have this status.
  return status === 412
    ? { why: "it has no database", details: "stopped, or without a free connection", because: "certain" }
    : { why: `it answers with status ${status}`, details, because: "answer" };
};
