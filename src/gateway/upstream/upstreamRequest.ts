import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { headerPlace } from "../http/requestTarget.ts";
import {
  codeOf,
  type FailureKind,
  failureOf,
  isBrokenConnection,
  type RequestLine,
  type RequestUnderWay,
  UpstreamFailure,
} from "./failure.ts";
import type { Judgement, LegacyTarget } from "../../catalogue/index.ts";
import type { Beginning } from "./answerBeginning.ts";
import { hasComeBack } from "./forwarding.ts";
import type { Turn } from "./semaphore.ts";
import type { Upstream, UpstreamHealth } from "./upstream.ts";

/** The maximum number of interim answers (status below 200) to a request; an upstream that sends more has failed. */
export const MAX_INTERIM_ANSWERS = 20;

/**
 * The requests that were sent to upstreams, until undici has reported their end. A Set would take half as long again as
 * this array.
 */
const underWay: UpstreamRequest[] = [];

/** True if this `Via` names a request that was sent to an upstream and has no answer yet: the request has come back. */
export const isUnderWay = (via: string): boolean => underWay.some((request) => request.isNamedIn(via));

/** The requests to upstreams with this health that have been sent completely, and whose answers have not begun. */
export const waitingRequests = (health: UpstreamHealth): UpstreamRequest[] =>
  underWay.filter(({ upstream, isAnswered, sentAt }) => upstream.health === health && !isAnswered && sentAt > 0);

/**
 * A request to an upstream: it waits for a place, is sent, again if its connection was dead, and ends exactly once. A
 * subclass takes the answer. It is undici's handler and the semaphore's turn in a single object: this path is hot.
 */
export abstract class UpstreamRequest implements Dispatcher.DispatchHandler, Turn, RequestUnderWay {
  readonly upstream: Upstream;
  readonly request: Dispatcher.DispatchOptions & RequestLine;
  /** The handler that gets undici's reports. */
  protected handler: Dispatcher.DispatchHandler = this;
  /** The whole answer has come, or the request has failed. */
  protected isOver = false;
  #hasPlace = false;
  /** An interim or final answer has begun. */
  isAnswered = false;
  /** The position in `underWay`. */
  #index = 0;
  #controller: Dispatcher.DispatchController | undefined;
  /** The upstream may have received a part of the request. */
  #isSent = false;
  /** True for a GET or HEAD without a body, as long as no byte of an answer has come and it was sent only once. */
  #maySendAgain: boolean;
  #interimAnswers = 0;
  /** An interim answer after which undici reads no other answer. */
  #unreadable: string | undefined;
  #isJudged = false;
  protected judgement: Judgement | undefined;
  protected judgedStatus = 0;
  startedAt = 0;
  sentAt = 0;
  isLate = false;

  constructor(upstream: Upstream, request: Dispatcher.DispatchOptions & RequestLine) {
    this.upstream = upstream;
    this.request = request;
    this.#maySendAgain = request.body === null && (request.method === "GET" || request.method === "HEAD");
  }

  /** True if this `Via` has the request's name. The request's headers are a flat list. */
  isNamedIn(via: string): boolean {
    // Once the answer has begun, the client may have learned the name from it.
    if (this.isAnswered) return false;
    const headers = this.request.headers as readonly string[];
    const at = headerPlace(headers, "via");
    return at !== -1 && hasComeBack(via, headers[at + 1] as string);
  }

  /** Called when the request ends without a whole answer, and called again if the first call has thrown. */
  protected abstract onFailure(failure: UpstreamFailure): void;

  /** Takes a place, at once or later. */
  protected enter(): void {
    if (this.isOver) return;
    if (this.#isHeldBack() || !this.upstream.semaphore.enter(this)) this.fail("overloaded");
  }

  /**
   * True if the request's part of the upstream hangs and holds half of the connections. Reads beyond that half fail and
   * give back their connections; a write that was sent goes on.
   */
  #isHeldBack(): boolean {
    const { parts, semaphore } = this.upstream;
    if (parts === undefined || semaphore.running < parts.half) return false;
    const waiting = () => underWay.filter((sent) => sent.upstream === this.upstream && !sent.isAnswered);
    for (const beyond of parts.look(waiting)) if (beyond.#maySendAgain) beyond.fail("overloaded");
    return parts.isFull(this.request);
  }

  expire(): void {
    this.fail("overloaded");
  }

  start(): void {
    // A request that is sent again keeps its place.
    if (!this.#hasPlace) {
      if (this.#isHeldBack()) {
        this.fail("overloaded");
        return this.upstream.semaphore.leave();
      }
      this.#index = underWay.push(this) - 1;
    }
    this.#hasPlace = true;
    this.startedAt ||= performance.now();
    try {
      // The time of a hanging connection counts as waiting for the first byte; the time of a slow upload does not.
      if (this.request.body === null) this.#noteSent();
      this.upstream.pool.dispatch(this.request, this.handler);
    } catch (error) {
      this.onResponseError(null, error as Error);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // If the request is over, throwing drops it and keeps the connection; controller.abort would close the connection.
    if (this.isOver) throw new UpstreamFailure("aborted", this.request);
    this.#controller = controller;
    this.#isSent = true;
  }

  onRequestSent(): void {
    if (this.request.body !== null) this.#noteSent();
  }

  #noteSent(): void {
    this.sentAt = performance.now();
    this.upstream.health?.sent?.();
  }

  onResponseStarted(): void {
    // undici also calls this for each interim answer: the first shows that the upstream answers.
    if (!this.isAnswered) this.upstream.health?.begun?.(this);
    this.isAnswered = true;
    this.#maySendAgain = false;
    this.upstream.parts?.begun(this);
  }

  /**
   * Counts an interim answer (status below 200). False if there are too many, or if its status is invalid: the request
   * asked for no other protocol (101), and a status is at least 100 (RFC 9110 15.2).
   */
  protected isInterimAllowed(status: number, { connection }: IncomingHttpHeaders): boolean {
    if (/\bclose\b/i.test(String(connection))) this.#unreadable = `${status} with Connection: close`;
    return status >= 100 && status !== 101 && ++this.#interimAnswers <= MAX_INTERIM_ANSWERS;
  }

  /**
   * Judges the answer, once. The health is told only after the whole body: the beginning of a cut answer looks like an
   * answer from legacy. `target`: the request's target in legacy's interface, if it has been read.
   */
  protected judge(answer: Beginning, target?: Pick<LegacyTarget, "segments">): Judgement | undefined {
    if (!this.#isJudged) this.judgement = this.upstream.judge?.(this.request, answer, target);
    this.#isJudged = true;
    this.judgedStatus = answer.status;
    return this.judgement;
  }

  onResponseEnd(): void {
    this.upstream.health?.answered(this, this.judgement, this.judgedStatus);
    this.#leave();
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.#controller = undefined;
    try {
      if (!this.isOver && this.#maySendAgain && isBrokenConnection(error)) {
        this.#maySendAgain = false;
        // After this round of events, undici also knows the other dead connections of a restarted upstream.
        setImmediate(() => this.start());
        return;
      }
      this.#leave();
      const failure = failureOf(error, this.request, this.#unreadable);
      if (this.isOver && failure.kind === "fault") this.upstream.onFault?.(error);
      // A request that undici refuses has not reached the upstream.
      this.fail(failure, failure.kind !== "fault" && codeOf(error) !== "UND_ERR_INVALID_ARG");
    } catch (fault) {
      this.#leave();
      if (this.isOver) this.upstream.onFault?.(fault);
      this.fail(new UpstreamFailure("fault", this.request, fault), false);
    }
  }

  /** Gives back the place after undici has reported the end of the last attempt. */
  #leave(): void {
    if (!this.#hasPlace) return;
    this.#hasPlace = false;
    const last = underWay.pop() as UpstreamRequest;
    if (last !== this) underWay[(last.#index = this.#index)] = last;
    this.upstream.semaphore.leave();
    if (!this.isAnswered) this.upstream.health?.begun?.(this);
    this.onLeave(performance.now() - this.startedAt);
  }

  /** Called when the request has given its place back, `ms` after it got the place. */
  protected onLeave(_ms: number): void {}

  /**
   * Ends the request without an answer, unless it is over. `isItsFault`: the failure is due to the upstream. An error
   * that is thrown here before the caller is told becomes the failure that the caller is told.
   */
  protected fail(reason: FailureKind | UpstreamFailure, isItsFault = true): void {
    if (this.isOver) return;
    try {
      const failure = typeof reason === "string" ? new UpstreamFailure(reason, this.request) : reason;
      if (isItsFault) this.upstream.health?.failed(this.request, failure);
      this.#tell(failure);
    } catch (error) {
      this.#tell(new UpstreamFailure("fault", this.request, error));
    } finally {
      this.giveUp();
    }
  }

  #tell(failure: UpstreamFailure): void {
    this.isOver = true;
    failure.isUnsent = !this.#isSent;
    this.onFailure(failure);
  }

  /** Ends the request: no caller waits for its answer any more. */
  protected giveUp(): void {
    this.isOver = true;
    // A waiting request leaves the queue; a running request leaves the semaphore when undici reports its end.
    if (!this.upstream.semaphore.withdraw(this)) this.#controller?.abort(new UpstreamFailure("aborted", this.request));
  }
}
