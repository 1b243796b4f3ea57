import type { Judgement } from "../../catalogue/index.ts";
import { describeReason, withTimeout } from "../../operation/index.ts";
import { headerPlace } from "../http/requestTarget.ts";
import type { FailureKind, RequestLine, RequestUnderWay, UpstreamFailure } from "./failure.ts";
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

type Listener = (health: LegacyHealth, before: LegacyHealth) => void;

/** Holds the state of legacy: gives the events of requests to `afterEvent`, and probes when the result says so. */
export class LegacyWatch {
  readonly #settings: WatchSettings;
  readonly #listeners: Listener[] = [];
  #health = unknownHealth;
  #failingSince = 0;
  /** Resolved when legacy is back. */
  #end = Promise.withResolvers<void>();
  #probing: Promise<void> | undefined;
  /** Until the next probe, and until the next request may be late. */
  #nextProbe: NodeJS.Timeout | undefined;
  #nextLate: NodeJS.Timeout | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(settings: WatchSettings) {
    this.#settings = settings;
  }

  health(): LegacyHealth {
    return this.#health;
  }

  /** True while legacy fails: requests that can wait are not sent. */
  isOn(): boolean {
    return this.#health.is === "failing";
  }

  /** True while legacy fails because it is late: a request would wait until its timeout. */
  isLate(): boolean {
    return this.#health.is === "failing" && this.#health.because === "late";
  }

  /** True if the running probe may show that legacy fails: requests that need legacy wait until it has `settled`. */
  isInDoubt(): boolean {
    return this.#health.is === "suspected";
  }

  circuit(): "closed" | "half_open" | "open" {
    return !this.isOn() ? "closed" : this.#health.probe?.is === "asked" ? "half_open" : "open";
  }

  /** Calls the listener whenever the state of legacy has changed, or the reason for it. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Resolves when legacy is back; `undefined` if legacy does not fail. */
  ended(): Promise<void> | undefined {
    return this.isOn() ? this.#end.promise : undefined;
  }

  /** Resolves when the running probe is over, or late; at once if no probe is running. */
  async settled(): Promise<void> {
    if (this.#probing) await withTimeout(this.#probing, FIRST_BYTE);
  }

  #note(event: HealthEvent): void {
    const before = this.#health;
    const health = afterEvent(before, event, performance.now());
    this.#health = health;
    if (health.probe !== before.probe) this.#follow(health.probe);
    if (health.is === "well" && before.is === "well" && health.differs === before.differs) return;
    if (wordsFor(health) === wordsFor(before)) return;
    if (health.is === "failing" && before.is !== "failing") {
      this.#end = Promise.withResolvers();
      this.#failingSince = performance.now();
    }
    if (health.is !== "failing") this.#end.resolve();
    for (const listener of this.#listeners) listener(health, before);
  }

  /** Probes now: until that is over, legacy is in doubt. */
  probe(): void {
    this.#note({ type: "due" });
  }

  #follow(next: LegacyHealth["probe"]): void {
    clearTimeout(this.#nextProbe);
    if (this.#isStopped || next === undefined) return;
    if (next.is === "asked") this.#probing ??= this.#sendProbe();
    else this.#nextProbe = setTimeout(() => this.#note({ type: "due" }), next.at - performance.now()).unref();
  }

  async #sendProbe(): Promise<void> {
    let probed: Probed | undefined;
    try {
      probed = await this.#settings.probe(schemeIn(this.#health.example?.headers), this.#health.patience);
    } finally {
      this.#probing = undefined;
      this.#note({ type: "probed", probed });
    }
  }

  /**
   * Makes a call. `undefined`: legacy fails, and no call was made. A needed call is made if `#mayTry` allows it.
   *
   * @throws The error of the call.
   */
  async execute<T>(call: () => Promise<T>, isNeeded: boolean): Promise<T | undefined> {
    if (this.isOn()) {
      const { probe } = this.#health;
      // Requests start a probe that is due, too: a timer alone may be late.
      if (probe?.is === "due" && performance.now() >= probe.at) this.#note({ type: "due" });
      if (this.isOn() && !(isNeeded && this.#mayTry())) return undefined;
    }
    return call();
  }

  /** True if a request that cannot wait is passed on: a late legacy gets one in five seconds. */
  mayPass(): boolean {
    return !this.isLate() || this.#mayTry();
  }

  /** While legacy fails, one request a second is sent, in case the probe is wrong; one in 5 seconds if it is late. */
  #mayTry(): boolean {
    if (performance.now() - this.#triedAt < (this.isLate() ? FIRST_BYTE : 1000)) return false;
    this.#triedAt = performance.now();
    return true;
  }

  /** A request has been sent. */
  sent(): void {
    this.#nextLate ??= setTimeout(() => this.#findLate(), FIRST_BYTE).unref();
  }

  #findLate(): void {
    this.#nextLate = undefined;
    let wait = Number.POSITIVE_INFINITY;
    for (const sent of this.#settings.waiting()) {
      if (sent.isLate) continue;
      const left = Math.max(sent.sentAt, this.#health.ownAt) + FIRST_BYTE - performance.now();
      if (left > 0) wait = Math.min(wait, left);
      else this.#reportLate(sent);
    }
    if (wait < Number.POSITIVE_INFINITY) this.#nextLate = setTimeout(() => this.#findLate(), Math.ceil(wait)).unref();
  }

  #reportLate(sent: RequestUnderWay): void {
    const { onFault, isJudged } = this.#settings;
    const { request } = sent;
    sent.isLate = true;
    onFault?.("slow", request);
    if (isJudged(request.path)) this.#note({ type: "silence", request });
  }

  /** The answer to a request has begun, or no answer will come. */
  begun({ request, sentAt, isLate: isReported }: RequestUnderWay): void {
    if (sentAt === 0 || isReported) return;
    const { onFault, isJudged } = this.#settings;
    if (performance.now() - sentAt >= FIRST_BYTE) onFault?.("slow", request);
    else if (this.#health.patience !== FIRST_BYTE && isJudged(request.path)) this.#note({ type: "quick" });
  }

  /** The whole answer has come. `judgement`: `undefined` if legacy cannot be judged by the answer. */
  answered({ request, sentAt }: RequestUnderWay, judgement: Judgement | undefined, status?: number): void {
    if (judgement === "own") this.#note({ type: "own", request, isNew: this.isOn() && sentAt >= this.#failingSince });
    else if (judgement !== undefined) this.#note({ type: "miss", request });
    // A front may limit a single client only.
    if (judgement === "ill" && status !== 429) this.#settings.onFault?.("ill", request);
  }

  /** The request got no answer, or only a part. */
  failed(request: RequestLine, failure: UpstreamFailure): void {
    const { onFault, isJudged } = this.#settings;
    const fault = ofFailure[failure.kind];
    if (fault !== undefined) onFault?.(fault, request);
    if (failure.kind === "unreachable") {
      if (!isOwnLack(failure)) this.#note({ type: "unreachable", request });
    } else if ((failure.kind === "timeout" || failure.kind === "broken") && isJudged(request.path))
      this.#note({ type: "miss", request });
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#nextProbe);
    clearTimeout(this.#nextLate);
  }
}

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
