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

/** What says how legacy is. */
export type LegacyWatch = ReturnType<typeof watchLegacy>;

type WatchSettings = {
  /** Whether a target is one of legacy's interface: it is not judged by a late answer of the website. */
  isJudged: (target: string) => boolean;
  /** Sends the probe. `undefined`: code of the gateway has thrown. */
  probe: (scheme: "http" | "https", timeout: number) => Promise<Probed | undefined>;
  /** A request got no answer as it should, or has waited five seconds for its first byte. */
  onFault?: (fault: LegacyFault, request: RequestLine) => void;
  /** The requests that were sent and have no answer yet. */
  waiting: () => readonly RequestUnderWay[];
};

/** Keeps how legacy is: tells `afterEvent` of requests, and does what its answer asks for. */
export const watchLegacy = ({ isJudged, probe, onFault, waiting }: WatchSettings) => {
  let health = unknownHealth;
  let end = Promise.withResolvers<void>();
  let failingSince = 0;
  let asking: Promise<void> | undefined;
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
    if (next.is === "asked") asking ??= ask();
    else timer = setTimeout(() => note({ type: "due" }), next.at - performance.now()).unref();
  };
  const ask = async (): Promise<void> => {
    let probed: Probed | undefined;
    try {
      probed = await probe(schemeIn(health.example?.headers), health.patience);
    } finally {
      asking = undefined;
      note({ type: "probed", probed });
    }
  };

  const isOn = (): boolean => health.is === "failing";
  const isLate = (): boolean => health.is === "failing" && health.because === "late";
  let triedAt = Number.NEGATIVE_INFINITY;
  /** While legacy fails, one request a second is sent, in case the probe is wrong; of a late legacy one in five. */
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
      else tellLate(sent);
    }
    if (wait < Number.POSITIVE_INFINITY) late = setTimeout(findLate, Math.ceil(wait)).unref();
  };
  const tellLate = (sent: RequestUnderWay): void => {
    const { request } = sent;
    sent.isLate = true;
    onFault?.("slow", request);
    if (isJudged(request.path)) note({ type: "silence", request });
  };

  return {
    /** A request is on its way. */
    sent(): void {
      late ??= setTimeout(findLate, FIRST_BYTE).unref();
    },
    /** The answer to one that was sent has begun, or none will come. */
    begun({ request, sentAt, isLate: isTold }: RequestUnderWay): void {
      if (sentAt === 0 || isTold) return;
      if (performance.now() - sentAt >= FIRST_BYTE) onFault?.("slow", request);
      else if (health.patience !== FIRST_BYTE && isJudged(request.path)) note({ type: "quick" });
    },
    /** Its whole answer has come; `undefined`: legacy cannot be judged by it. */
    answered({ request, sentAt }: RequestUnderWay, judgement: Judgement | undefined, status?: number): void {
      if (judgement === "own") note({ type: "own", request, isNew: isOn() && sentAt >= failingSince });
      else if (judgement !== undefined) note({ type: "miss", request });
      // A front may limit one client alone.
      if (judgement === "ill" && status !== 429) onFault?.("ill", request);
    },
    /** It has no answer, or not all of it. */
    failed(request: RequestLine, failure: UpstreamFailure): void {
      const fault = ofFailure[failure.kind];
      if (fault !== undefined) onFault?.(fault, request);
      if (failure.kind === "unreachable") {
        if (!isOwnLack(failure)) note({ type: "unreachable", request });
      } else if ((failure.kind === "timeout" || failure.kind === "broken") && isJudged(request.path))
        note({ type: "miss", request });
    },
    health: (): LegacyHealth => health,
    /** Legacy fails: what can wait is not sent. */
    isOn,
    /** It fails because it is late: a request would wait for its timeout. */
    isLate,
    /** Whether to pass on what cannot wait: to a late legacy one in five seconds. */
    mayPass: (): boolean => !isLate() || mayTry(),
    circuit: () => (!isOn() ? "closed" : health.probe?.is === "asked" ? "half_open" : "open"),
    /**
     * Makes a call. `undefined`: legacy fails, and no call was made, unless it is needed and may try.
     *
     * @throws As the call does.
     */
    async execute<T>(call: () => Promise<T>, isNeeded: boolean): Promise<T | undefined> {
      // The probe goes by the same clock as requests do, not by a timer alone.
      if (isOn() && health.probe?.is === "due" && performance.now() >= health.probe.at) note({ type: "due" });
      if (isOn() && !(isNeeded && mayTry())) return undefined;
      return call();
    },
    /** The probe is under way and may show that legacy fails: what needs legacy waits until it has `settled`. */
    isInDoubt: (): boolean => health.is === "suspected",
    /** Resolves when the probe that is under way is over, or late; at once where there is none. */
    settled: async (): Promise<void> => void (asking && (await withTimeout(asking, FIRST_BYTE))),
    /** Resolves when legacy is back; `undefined` where it does not fail. */
    ended: (): Promise<void> | undefined => (isOn() ? end.promise : undefined),
    /** Calls this whenever how legacy is has changed, or why. */
    onChange: (listener: (health: LegacyHealth, before: LegacyHealth) => void): void => void listeners.push(listener),
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(late);
    },
  };
};

const ofFailure: Partial<Record<FailureKind, LegacyFault>> = { broken: "cut", overloaded: "full", crowded: "full" };

/** What operators are told. A suspicion is not. */
const wordsFor = (health: LegacyHealth): string => {
  const why = health.is === "failing" ? describeReason(health) : health.is === "refusing" ? health.status : "";
  return `${why} ${health.differs?.isSure === true}`;
};

/** `X-Forwarded-Proto` in a flat list of headers, by which a front may redirect. */
const schemeIn = (headers: unknown): "http" | "https" => {
  if (!Array.isArray(headers)) return "http";
  const at = headerPlace(headers, "x-forwarded-proto");
  return at !== -1 && headers[at + 1] === "https" ? "https" : "http";
};
