import type { Judgement } from "../../catalogue/index.ts";
import { codeOf, type RequestLine, UpstreamFailure } from "./failure.ts";

/** What the probe came to: an answer and its judgement, or none. */
export type Probed = { status: number; judgement: Judgement | undefined } | UpstreamFailure;

/** A request as it is sent to legacy. */
export type SentRequest = RequestLine & { headers?: unknown };

/** What says whether legacy fails. */
export type Outage = ReturnType<typeof openOutage>;

type OutageSettings = {
  /** Whether a target is one of legacy's interface: it is not judged by a late answer of the website. */
  isJudged: (target: string) => boolean;
  /** Sends the probe as this request was sent. It never rejects. */
  probe: (example: SentRequest) => Promise<Probed>;
  /** Legacy, or a front, refuses the gateway with this status; `undefined`: no longer. */
  onRefused: (status: number | undefined) => void;
  /** The probe is treated otherwise than requests are, or no longer. */
  onProbeDiffers: (differs: boolean) => void;
};

/** Answers in a row: that are not legacy's own until the probe is asked, or that are until it is overruled. */
const ROW = 3;
/** Milliseconds from one probe to the next at least. */
const AT_MOST_EVERY = 1000;
/** Milliseconds to the next probe while legacy has not answered it: a restart is over soon. The last one repeats. */
const PAUSES = [1000, 2000, 5000];
/** Milliseconds for the first byte of an answer. */
const FIRST_BYTE = 5000;
const LATE = "it takes too long to answer";
/** Codes of errors by which the gateway itself lacks descriptors or ports, or closes. */
const ownLack = new Set(["EMFILE", "ENFILE", "EADDRNOTAVAIL", "EADDRINUSE", "UND_ERR_CLOSED", "UND_ERR_DESTROYED"]);

/**
 * Says whether legacy fails: the only place that decides it. Three answers in a row that are not legacy's own, a
 * refused connection, or a first byte that has not come after five seconds make it ask a small probe. The probe's
 * answer begins a failure, and ends it. A probe that is treated otherwise than requests are is overruled by three
 * answers of legacy's own, and not believed until legacy itself has answered it. That is told if it fails once more.
 */
export const openOutage = ({ isJudged, probe, onRefused, onProbeDiffers }: OutageSettings) => {
  /** Why legacy fails. */
  let why: string | undefined;
  let refusedWith: number | undefined;
  /** The probe is not believed, and that is told. */
  let isMistrusted = false;
  let isTold = false;
  const listeners: ((why: string | undefined) => void)[] = [];
  let end = Promise.withResolvers<void>();

  /** Answers in a row that are not legacy's own. */
  let misses = 0;
  /** While it fails: answers in a row that are, to requests that were sent since. */
  let owns = 0;
  let sentSince = new WeakSet<SentRequest>();
  let triedAt = Number.NEGATIVE_INFINITY;
  /**
   * The last request that was sent all the same, while it is under way: a frozen legacy would keep one for each second.
   */
  let trying: Promise<unknown> | undefined;

  let cause: SentRequest = { method: "GET", path: "/" };
  /** The last one that legacy itself has answered. Another may be one that a front always redirects. */
  let answeredLast: SentRequest | undefined;
  let asking: Promise<void> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let nextAt = Number.POSITIVE_INFINITY;
  let pauses = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const setWhy = (next: string | undefined): void => {
    misses = 0;
    if (next === why) return;
    if (why === undefined) {
      pauses = 0;
      owns = 0;
      sentSince = new WeakSet();
      end = Promise.withResolvers();
    }
    why = next;
    for (const listener of listeners) listener(why);
    if (next === undefined) end.resolve();
  };
  const setRefused = (status: number | undefined): void => {
    if (status === refusedWith) return;
    refusedWith = status;
    onRefused(status);
  };
  const tell = (differs: boolean): void => {
    if (differs === isTold) return;
    isTold = differs;
    onProbeDiffers(differs);
  };

  const ask = (): void => {
    if (isClosed || asking !== undefined) return;
    clearTimeout(timer);
    asking = askProbe();
  };
  const askProbe = async (): Promise<void> => {
    const wasMistrusted = isMistrusted;
    let probed: Probed;
    try {
      probed = await probe(answeredLast ?? cause);
    } finally {
      asking = undefined;
      askedAt = performance.now();
    }
    try {
      conclude(probed, wasMistrusted);
    } finally {
      schedule();
    }
  };
  const conclude = (probed: Probed, wasMistrusted: boolean): void => {
    const result = probeResult(probed);
    if (result === undefined) return;
    if ("fails" in result) {
      if (isMistrusted && !result.isSure) {
        // Requests may be faster than the probe to find legacy back.
        if (wasMistrusted) tell(true);
        return setWhy(undefined);
      }
      setRefused(undefined);
      return setWhy(result.fails);
    }
    if (result.refusedWith === undefined) {
      isMistrusted = false;
      tell(false);
    }
    setRefused(result.refusedWith);
    setWhy(undefined);
  };
  /** The probe is asked again until legacy itself has answered it. */
  const schedule = (): void => {
    clearTimeout(timer);
    nextAt = Number.POSITIVE_INFINITY;
    if (isClosed || (why === undefined && refusedWith === undefined && !isMistrusted)) return;
    const pause = PAUSES[Math.min(pauses++, PAUSES.length - 1)] as number;
    nextAt = performance.now() + pause;
    timer = setTimeout(ask, pause).unref();
  };
  const suspect = (request: SentRequest): void => {
    if (why !== undefined || performance.now() - askedAt < AT_MOST_EVERY) return;
    cause = request;
    ask();
  };
  const miss = (request: SentRequest): void => {
    owns = 0;
    if (++misses >= ROW) suspect(request);
  };

  /** When requests were sent whose answers have not begun, the oldest first. */
  const waiting = new Map<SentRequest, number>();
  let late: NodeJS.Timeout | undefined;
  const findLate = (): void => {
    late = undefined;
    for (const [request, sentAt] of waiting) {
      const left = sentAt + FIRST_BYTE - performance.now();
      if (left > 0) return void (late = setTimeout(findLate, Math.ceil(left)).unref());
      waiting.delete(request);
      if (isJudged(request.path)) suspect(request);
    }
  };

  return {
    /** A request is on its way. */
    sent(request: SentRequest): void {
      waiting.set(request, performance.now());
      late ??= setTimeout(findLate, FIRST_BYTE).unref();
      if (why !== undefined) sentSince.add(request);
    },
    /** Its answer has begun, or none will come. */
    begun: (request: SentRequest): void => void waiting.delete(request),
    /** Its whole answer has come; `undefined`: legacy cannot be judged by it. */
    answered(request: SentRequest, judgement: Judgement | undefined): void {
      if (judgement === undefined) return;
      if (judgement !== "own") return miss(request);
      misses = 0;
      answeredLast = request;
      if (why === undefined || !sentSince.has(request) || ++owns < ROW) return;
      isMistrusted = true;
      setWhy(undefined);
      pauses = 0;
      if (asking === undefined) schedule();
    },
    /** It has no answer, or not all of it. */
    failed(request: SentRequest, { kind, cause: error }: UpstreamFailure): void {
      if (kind === "unreachable") {
        if (!ownLack.has(codeOf(error))) suspect(request);
      } else if ((kind === "timeout" || kind === "broken") && isJudged(request.path)) miss(request);
    },
    /** Legacy fails: what can wait is not sent. */
    isOn: (): boolean => why !== undefined,
    /** It fails because it is late: a request would wait for its timeout. */
    isLate: (): boolean => why === LATE,
    /** A request was not sent because of it. The probe goes by the same clock as requests do, not by a timer alone. */
    refused(): void {
      if (performance.now() >= nextAt) ask();
    },
    /**
     * Makes the call all the same, lest the probe be wrong: once a second, or in five while the last one is under way.
     */
    tryOne<T>(call: () => Promise<T>): Promise<T> | undefined {
      if (performance.now() - triedAt < (trying === undefined ? AT_MOST_EVERY : FIRST_BYTE)) return undefined;
      triedAt = performance.now();
      const running = call();
      const over = (): void => {
        if (trying === running) trying = undefined;
      };
      trying = running;
      running.then(over, over);
      return running;
    },
    /** The probe is under way. */
    isAsking: (): boolean => asking !== undefined,
    /** The same, and it may show that legacy fails: what needs legacy waits until it has `settled`. */
    isInDoubt: (): boolean => asking !== undefined && why === undefined && !isMistrusted,
    /** Resolves when the probe that is under way is over; at once where there is none. */
    settled: (): Promise<void> => asking ?? Promise.resolve(),
    /** Resolves when legacy is back; `undefined` where it does not fail. */
    ended: (): Promise<void> | undefined => (why === undefined ? undefined : end.promise),
    /** Calls this whenever `why` legacy fails has changed; `undefined`: it does not. */
    onChange: (listener: (why: string | undefined) => void): void => void listeners.push(listener),
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(late);
    },
  };
};

/**
 * What the probe shows; `undefined`: nothing. `fails`: why legacy does. `isSure`: no connection can be opened for any
 * request. `refusedWith`: the status of a refusal, by which legacy is there.
 */
type ProbeResult = { fails: string; isSure: boolean } | { refusedWith: number | undefined } | undefined;

const probeResult = (probed: Probed): ProbeResult => {
  if (probed instanceof UpstreamFailure) {
    if (probed.kind === "unreachable")
      return ownLack.has(codeOf(probed.cause)) ? undefined : { fails: "it cannot be reached", isSure: true };
    if (probed.kind === "timeout") return { fails: LATE, isSure: false };
    return probed.kind === "broken" ? { fails: "it breaks off its answers", isSure: false } : undefined;
  }
  const { status, judgement } = probed;
  if (judgement === "own" || judgement === "refused")
    return { refusedWith: judgement === "refused" ? status : undefined };
  if (judgement === undefined) return undefined;
  // Of what is ill, only legacy itself has this status.
  const isOwnWord = status === 412;
  return { fails: isOwnWord ? "it has no database" : `it answers with status ${status}`, isSure: isOwnWord };
};
