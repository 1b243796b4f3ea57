import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { headerPlace } from "../http/requestTarget.ts";
import {
  codeOf,
  type FailureKind,
  failureOf,
  isBrokenConnection,
  type RequestLine,
  UpstreamFailure,
} from "./failure.ts";
import type { Judgement, LegacyTarget } from "../../catalogue/index.ts";
import type { Beginning } from "./answerBeginning.ts";
import { hasComeBack } from "./forwarding.ts";
import type { Turn } from "./semaphore.ts";
import type { RequestUnderWay, Upstream, UpstreamHealth } from "./upstream.ts";

/** Most answers with a status below 200 before the final one; an upstream that sends more has failed. */
export const MAX_INTERIM_ANSWERS = 20;

/**
 * The requests that upstreams have got, until undici has reported their end. As members of a Set they would
 * take half as long again.
 */
const underWay: UpstreamRequest[] = [];

/** True where a request that an upstream has got, and has not begun to answer, has come back with this `Via`. */
export const isUnderWay = (via: string): boolean => underWay.some((request) => request.isNamedIn(via));

/** The requests, all of them on their way, whose answers have not begun: those of upstreams with this health. */
export const waitingRequests = (health: UpstreamHealth): UpstreamRequest[] =>
  underWay.filter(({ upstream, isAnswered, sentAt }) => upstream.health === health && !isAnswered && sentAt > 0);

/**
 * One request on its way to an upstream: it waits for a place, is sent, once more where its connection was dead, and is
 * over once. A subclass takes the answer. undici's handler and the semaphore's turn are one object: this path is hot.
 */
export abstract class UpstreamRequest implements Dispatcher.DispatchHandler, Turn, RequestUnderWay {
  readonly upstream: Upstream;
  readonly request: Dispatcher.DispatchOptions & RequestLine;
  /** Gets what undici reports. */
  protected handler: Dispatcher.DispatchHandler = this;
  /** Its whole answer has come, or it has failed. */
  protected isOver = false;
  #hasPlace = false;
  /** An answer, be it one before the final one, has begun. */
  isAnswered = false;
  /** Among those that are under way. */
  #index = 0;
  #controller: Dispatcher.DispatchController | undefined;
  /** The upstream may have received a part of it. */
  #isSent = false;
  /** A GET or HEAD without a body is sent a second time, as long as no byte of an answer has come. */
  #maySendAgain: boolean;
  #interimAnswers = 0;
  /** An interim answer behind which undici reads no other. */
  #unreadable: string | undefined;
  #isJudged = false;
  protected judgement: Judgement | undefined;
  protected judgedStatus = 0;
  /** When it first got a place, on the clock of `performance.now()`; until then 0. */
  startedAt = 0;
  sentAt = 0;
  isLate = false;

  constructor(upstream: Upstream, request: Dispatcher.DispatchOptions & RequestLine) {
    this.upstream = upstream;
    this.request = request;
    this.#maySendAgain = request.body === null && (request.method === "GET" || request.method === "HEAD");
  }

  /** True where this `Via` has its name. Its headers are a flat list. */
  isNamedIn(via: string): boolean {
    // Its answer may have shown the name to its client.
    if (this.isAnswered) return false;
    const headers = this.request.headers as readonly string[];
    const at = headerPlace(headers, "via");
    return at !== -1 && hasComeBack(via, headers[at + 1] as string);
  }

  /** It is over without an answer, or without all of it. Called again where the first call has thrown. */
  protected abstract onFailure(failure: UpstreamFailure): void;

  /** Takes a place, at once or later. */
  protected enter(): void {
    if (this.isOver) return;
    if (this.#isHeldBack() || !this.upstream.semaphore.enter(this)) this.fail("overloaded");
  }

  /**
   * True where its part of the upstream hangs and holds half of the connections. Reads beyond those give them back; a
   * write that was sent goes on.
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
    // It keeps its place where it is sent once more.
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
      // A connection that hangs counts; a body that drips does not.
      if (this.request.body === null) this.#noteSent();
      this.upstream.pool.dispatch(this.request, this.handler);
    } catch (error) {
      this.onResponseError(null, error as Error);
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing drops a request that is over and keeps the connection; controller.abort would close it.
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
    this.isAnswered = true;
    this.#maySendAgain = false;
    this.upstream.health?.begun?.(this);
    this.upstream.parts?.begun(this);
  }

  /**
   * Counts an answer with a status below 200; false where there are too many, or its status cannot be: the request
   * asked for no other protocol (101), and no status is below 100 (RFC 9110 15.2).
   */
  protected isInterimAllowed(status: number, { connection }: IncomingHttpHeaders): boolean {
    if (/\bclose\b/i.test(String(connection))) this.#unreadable = `${status} with Connection: close`;
    return status >= 100 && status !== 101 && ++this.#interimAnswers <= MAX_INTERIM_ANSWERS;
  }

  /**
   * Judges the answer, once. A whole body tells its health: one that is cut would begin as legacy's own does. `target`:
   * what the request asks of legacy's interface, where that has been read.
   */
  protected judge(answer: Beginning, target?: LegacyTarget): Judgement | undefined {
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
        // After this round of events the other dead connections of a restarted upstream are known as such.
        setImmediate(() => this.start());
        return;
      }
      this.#leave();
      const failure = failureOf(error, this.request, this.#unreadable);
      if (this.isOver && failure.kind === "fault") this.upstream.onFault?.(error);
      // What undici refuses never reached the upstream.
      this.fail(failure, failure.kind !== "fault" && codeOf(error) !== "UND_ERR_INVALID_ARG");
    } catch (fault) {
      this.#leave();
      if (this.isOver) this.upstream.onFault?.(fault);
      this.fail(new UpstreamFailure("fault", this.request, fault), false);
    }
  }

  /** undici has reported the end of its last attempt. */
  #leave(): void {
    if (!this.#hasPlace) return;
    this.#hasPlace = false;
    const last = underWay.pop() as UpstreamRequest;
    if (last !== this) underWay[(last.#index = this.#index)] = last;
    this.upstream.semaphore.leave();
    if (!this.isAnswered) this.upstream.health?.begun?.(this);
    this.onLeave(performance.now() - this.startedAt);
  }

  /** It has given its place back, `ms` after it got one. */
  protected onLeave(_ms: number): void {}

  /**
   * Ends it without an answer, unless it is over. `isItsFault`: the failure is due to the upstream. What throws before
   * its caller is told is what the caller is told.
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

  /** Ends it: no caller waits for its answer any more. */
  protected giveUp(): void {
    this.isOver = true;
    // One that waits leaves the queue; one that runs leaves the semaphore when undici reports its end.
    if (!this.upstream.semaphore.withdraw(this)) this.#controller?.abort(new UpstreamFailure("aborted", this.request));
  }
}
