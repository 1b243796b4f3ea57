import type { Judgement } from "../../catalogue/index.ts";
import { describeReason, withTimeout } from "../../operation/index.ts";
import { headerPlace } from "../http/requestTarget.ts";
import type { FailureKind, RequestLine, UpstreamFailure } from "./failure.ts";
import type { LegacyFault } from "./legacyFaults.ts";
import {
  afterEvent,
  FIRST_BYTE,
  type HealthEvent,
  isOwnLack,
  type LegacyHealth,
  type Probed,
  unknownHealth,
} from "./legacyHealth.ts";
import type { RequestUnderWay } from "./upstream.ts";

/** The watch over the state of legacy. */
export type LegacyWatch = ReturnType<typeof watchLegacy>;

type WatchSettings = {
  /** True if a target belongs to legacy's interface: late answers of the website do not count. */
  isJudged: (target: string) => boolean;
  /** Sends the probe. `undefined`: code of the gateway has thrown. */
  probe: (scheme: "http" | "https", timeout: number) => Promise<Probed | undefined>;
  /** Called if a request got no correct answer, or has waited five seconds for its first byte. */
  onFault?: (fault: LegacyFault, request: RequestLine) => void;
  /** Returns the requests that were sent and have no answer yet. */
  waiting: () => readonly RequestUnderWay[];
};

/** Holds the state of legacy: gives the events of requests to `afterEvent`, and probes when the result says so. */
export const watchLegacy = ({ isJudged, probe, onFault, waiting }: WatchSettings) => {
  let health = unknownHealth;
  let end = Promise.withResolvers<void>();
  let failingSince = 0;
  let probing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const listeners: ((health: LegacyHealth, before: LegacyHealth) => void)[] = [];

  const note = (event: HealthEvent): void => {
    const before = health;
    health = afterEvent(before, event, performance.now());
    if (health.probe !== before.probe) follow(health.probe);
    if (health.is === "well" && before.is === "well" && health.differs === before.differs) return;
    if (wordsFor(health) === wordsFor(before)) return;
    if (health.is === "failing" && before.is !== "failing") {
      end = Promise.withResolvers();
      failingSince = performance.now();
    }
    if (health.is !== "failing") end.resolve();
    for (const listener of listeners) listener(health, before);
  };
  const follow = (next: LegacyHealth["probe"]): void => {
    clearTimeout(timer);
    if (isClosed || next === undefined) return;
    if (next.is === "asked") probing ??= sendProbe();
    else timer = setTimeout(() => note({ type: "due" }), next.at - performance.now()).unref();
  };
  const sendProbe = async (): Promise<void> => {
    let probed: Probed | undefined;
    try {
      probed = await probe(schemeIn(health.example?.headers), health.patience);
    } finally {
      probing = undefined;
      note({ type: "probed", probed });
    }
  };

  const isOn = (): boolean => health.is === "failing";
  const isLate = (): boolean => health.is === "failing" && health.because === "late";
  let triedAt = Number.NEGATIVE_INFINITY;
  /** While legacy fails, one request a second is sent, in case the probe is wrong; one in 5 seconds if it is late. */
  const mayTry = (): boolean => {
    if (performance.now() - triedAt < (isLate() ? FIRST_BYTE : 1000)) return false;
    triedAt = performance.now();
    return true;
  };

  let late: NodeJS.Timeout | undefined;
  const findLate = (): void => {
    late = undefined;
    let wait = Number.POSITIVE_INFINITY;
    for (const sent of waiting()) {
      if (sent.isLate) continue;
      const left = Math.max(sent.sentAt, health.ownAt) + FIRST_BYTE - performance.now();
      if (left > 0) wait = Math.min(wait, left);
      else reportLate(sent);
    }
    if (wait < Number.POSITIVE_INFINITY) late = setTimeout(findLate, Math.ceil(wait)).unref();
  };
  const reportLate = (sent: RequestUnderWay): void => {
    const { request } = sent;
    sent.isLate = true;
    onFault?.("slow", request);
    if (isJudged(request.path)) note({ type: "silence", request });
  };

  return {
    /** A request has been sent. */
    sent(): void {
      late ??= setTimeout(findLate, FIRST_BYTE).unref();
    },
    /** The answer to a request has begun, or no answer will come. */
    begun({ request, sentAt, isLate: isReported }: RequestUnderWay): void {
      if (sentAt === 0 || isReported) return;
      if (performance.now() - sentAt >= FIRST_BYTE) onFault?.("slow", request);
      else if (health.patience !== FIRST_BYTE && isJudged(request.path)) note({ type: "quick" });
    },
    /** The whole answer has come. `judgement`: `undefined` if legacy cannot be judged by the answer. */
    answered({ request, sentAt }: RequestUnderWay, judgement: Judgement | undefined, status?: number): void {
      if (judgement === "own") note({ type: "own", request, isNew: isOn() && sentAt >= failingSince });
      else if (judgement !== undefined) note({ type: "miss", request });
      // A front may limit a single client only.
      if (judgement === "ill" && status !== 429) onFault?.("ill", request);
    },
    /** The request got no answer, or only a part. */
    failed(request: RequestLine, failure: UpstreamFailure): void {
      const fault = ofFailure[failure.kind];
      if (fault !== undefined) onFault?.(fault, request);
      if (failure.kind === "unreachable") {
        if (!isOwnLack(failure)) note({ type: "unreachable", request });
      } else if ((failure.kind === "timeout" || failure.kind === "broken") && isJudged(request.path))
        note({ type: "miss", request });
    },
    health: (): LegacyHealth => health,
    /** True while legacy fails: requests that can wait are not sent. */
    isOn,
    /** True while legacy fails because it is late: a request would wait until its timeout. */
    isLate,
    /** True if a request that cannot wait is passed on: a late legacy gets one in five seconds. */
    mayPass: (): boolean => !isLate() || mayTry(),
    circuit: () => (!isOn() ? "closed" : health.probe?.is === "asked" ? "half_open" : "open"),
    /**
     * Makes a call. `undefined`: legacy fails, and no call was made. A needed call is made if `mayTry` allows it.
     *
     * @throws The error of the call.
     */
    async execute<T>(call: () => Promise<T>, isNeeded: boolean): Promise<T | undefined> {
      // Requests start a probe that is due, too: a timer alone may be late.
      if (isOn() && health.probe?.is === "due" && performance.now() >= health.probe.at) note({ type: "due" });
      if (isOn() && !(isNeeded && mayTry())) return undefined;
      return call();
    },
    /** True if the running probe may show that legacy fails: requests that need legacy wait until it has `settled`. */
    isInDoubt: (): boolean => health.is === "suspected",
    /** Resolves when the running probe is over, or late; at once if no probe is running. */
    settled: async (): Promise<void> => void (probing && (await withTimeout(probing, FIRST_BYTE))),
    /** Resolves when legacy is back; `undefined` if legacy does not fail. */
    ended: (): Promise<void> | undefined => (isOn() ? end.promise : undefined),
    /** Calls the listener whenever the state of legacy has changed, or the reason for it. */
    onChange: (listener: (health: LegacyHealth, before: LegacyHealth) => void): void => void listeners.push(listener),
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(late);
    },
  };
};

const ofFailure: Partial<Record<FailureKind, LegacyFault>> = { broken: "cut", overloaded: "full", crowded: "full" };

/** The state in words, as operators are told. It leaves out a mere suspicion. */
const wordsFor = (health: LegacyHealth): string => {
  const why = health.is === "failing" ? describeReason(health) : health.is === "refusing" ? health.status : "";
  return `${why} ${health.differs?.isSure === true}`;
};

/** The scheme by `X-Forwarded-Proto` in a flat list of headers: a front may redirect by it. */
const schemeIn = (headers: unknown): "http" | "https" => {
  if (!Array.isArray(headers)) return "http";
  const at = headerPlace(headers, "x-forwarded-proto");
  return at !== -1 && headers[at + 1] === "https" ? "https" : "http";
};
