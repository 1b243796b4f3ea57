import type { Dispatcher } from "undici";
import { codeOf, type FailureKind, failureOf, maySendAgain, type RequestLine, UpstreamFailure } from "./failure.ts";
import type { Turn } from "./semaphore.ts";
import type { Upstream } from "./upstream.ts";

/** Most answers with a status below 200 before the final one; an upstream that sends more has failed. */
export const MAX_INTERIM_ANSWERS = 20;

/**
 * One request on its way to an upstream: it waits for a place, is sent, once more where its connection was dead, and is over once. What
 * becomes of the answer is up to a class of its own. undici's handler and the semaphore's turn in one object: this path is hot.
 */
export abstract class UpstreamRequest implements Dispatcher.DispatchHandler, Turn {
  protected readonly upstream: Upstream;
  protected readonly request: Dispatcher.DispatchOptions & RequestLine;
  /** Gets what undici reports. */
  protected handler: Dispatcher.DispatchHandler = this;
  protected controller: Dispatcher.DispatchController | undefined;
  /** It has its answer, or never gets one. */
  protected isOver = false;
  /** When it was first sent, on the clock of `performance.now()`. */
  protected startedAt: number | undefined;
  #hasPlace = false;
  #isSent = false;
  #isAnswered = false;
  #isSentAgain = false;
  #interimAnswers = 0;

  constructor(upstream: Upstream, request: Dispatcher.DispatchOptions & RequestLine) {
    this.upstream = upstream;
    this.request = request;
  }

  /** It is over without an answer, or without all of it. */
  protected abstract onFailure(failure: UpstreamFailure): void;

  /** Takes a place, at once or later. */
  protected enter(): void {
    if (!this.isOver && !this.upstream.semaphore.enter(this)) this.fail("overloaded");
  }

  expire(): void {
    this.fail("overloaded");
  }

  start(): void {
    this.#hasPlace = true;
    this.startedAt ??= performance.now();
    this.upstream.pool.dispatch(this.request, this.handler);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing drops a request that is over and keeps the connection; controller.abort would close it.
    if (this.isOver) throw new UpstreamFailure("aborted", this.request);
    this.controller = controller;
    this.#isSent = true;
  }

  onResponseStarted(): void {
    this.#isAnswered = true;
  }

  /** Counts an answer with a status below 200; false where there are too many. */
  protected isInterimAllowed(): boolean {
    return ++this.#interimAnswers <= MAX_INTERIM_ANSWERS;
  }

  onResponseEnd(): void {
    this.upstream.health?.answered();
    this.#leave();
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.controller = undefined;
    const { method, body } = this.request;
    if (!this.isOver && !this.#isSentAgain && body === null && maySendAgain(method, this.#isAnswered, error)) {
      this.#isSentAgain = true;
      // After this round of events the other dead connections of a restarted upstream are known as such.
      setImmediate(() => this.start());
      return;
    }
    this.#leave();
    // What undici refuses never reached the upstream.
    this.fail(failureOf(error, this.request), codeOf(error) !== "UND_ERR_INVALID_ARG");
  }

  #leave(): void {
    if (!this.#hasPlace) return;
    this.#hasPlace = false;
    this.onLeave();
    this.upstream.semaphore.leave();
  }

  /** Called once it is with the upstream no more, before it gives its place to another one. */
  protected onLeave(): void {}

  /** Ends it, unless it is over. `isItsFault`: the failure is due to the upstream. */
  protected fail(reason: FailureKind | UpstreamFailure, isItsFault = true): void {
    if (this.isOver) return;
    this.isOver = true;
    const failure = typeof reason === "string" ? new UpstreamFailure(reason, this.request) : reason;
    failure.isUnsent = !this.#isSent;
    if (isItsFault) this.upstream.health?.failed(failure.kind);
    // One that waits leaves the queue; one that runs leaves the semaphore when undici reports its end.
    if (!this.upstream.semaphore.withdraw(this)) this.controller?.abort(failure);
    this.onFailure(failure);
  }
}
