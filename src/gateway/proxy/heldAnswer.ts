import type { Dispatcher } from "undici";
import { type Beginning, noBytes } from "../upstream/answerBeginning.ts";

/** Observes a proxied request and its answer. */
export type ResponseObserver = {
  /** Gets each chunk of the request's body. */
  chunk: (bytes: Buffer) => void;
  /**
   * Called once, with the beginning of the answer; `undefined`: the request has failed without an answer. The client
   * gets the answer when the promise resolves. If it resolves to `"answered"`, the client already has another answer,
   * and the upstream's answer is dropped. `isSent`: the upstream may have received a part of the request.
   */
  over(answer: Beginning | undefined, isSent: boolean): Promise<void | "answered"> | undefined;
};

/**
 * A handler of undici's events. `onReplaced`: the client has got another answer. `isWhole`: the upstream's answer has
 * come whole, and its end is still passed on; otherwise the handler has to give up the request.
 */
type ReplaceableHandler = Dispatcher.DispatchHandler & { onReplaced?(isWhole: boolean): void };
type Start = Parameters<NonNullable<ReplaceableHandler["onResponseStart"]>>;

/**
 * A handler that passes each event on. It holds the answer's events until the observer is done with the beginning of
 * the answer. `onFault` gets errors of the observer after the request has failed.
 */
export class HeldAnswer implements Dispatcher.DispatchHandler {
  readonly #handler: ReplaceableHandler;
  readonly #observer: Pick<ResponseObserver, "over">;
  readonly #onFault: (error: unknown) => void;
  /** The head of the answer, until the first event of its body. */
  #held: Start | undefined;
  /** Events that wait for the observer: the end and failures come even while the upstream is paused. */
  #waiting: (() => void)[] | undefined;
  /** Passes on the end of the whole answer only; set when the whole answer has come. */
  #end: (() => void) | undefined;
  #wasObserved = false;
  #isSent = false;

  constructor(
    handler: ReplaceableHandler,
    observer: Pick<ResponseObserver, "over">,
    onFault: (error: unknown) => void,
  ) {
    this.#handler = handler;
    this.#observer = observer;
    this.#onFault = onFault;
  }

  onRequestStart(...args: Parameters<NonNullable<ReplaceableHandler["onRequestStart"]>>): void {
    // This throws if the request is over already: it is then not sent.
    this.#handler.onRequestStart?.(...args);
    this.#isSent = true;
  }

  onBodySent(chunk: Buffer): void {
    this.#handler.onBodySent?.(chunk);
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.();
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.();
  }

  onResponseStart(...start: Start): void {
    if (start[1] < 200) this.#handler.onResponseStart?.(...start);
    else this.#held = start;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#pass(chunk, () => this.#handler.onResponseData?.(controller, chunk));
  }

  onResponseEnd(...args: Parameters<NonNullable<ReplaceableHandler["onResponseEnd"]>>): void {
    this.#end = () => this.#handler.onResponseEnd?.(...args);
    this.#pass(noBytes, this.#end);
  }

  onResponseError(...args: Parameters<NonNullable<ReplaceableHandler["onResponseError"]>>): void {
    try {
      if (!this.#wasObserved) this.#over(undefined)?.catch(this.#onFault);
      this.#waiting?.splice(0);
    } finally {
      this.#handler.onResponseError?.(...args);
    }
  }

  #pass(body: Buffer, step: () => void): void {
    if (this.#held) this.#release(this.#held, body, step);
    else if (this.#waiting) this.#waiting.push(step);
    else step();
  }

  #release([controller, status, headers, reason]: Start, body: Buffer, rest: () => void): void {
    this.#held = undefined;
    this.#waiting = [() => this.#handler.onResponseStart?.(controller, status, headers, reason), rest];
    const done = this.#over({ status, headers, body });
    if (done === undefined) return this.#flush();
    controller.pause();
    done
      .then((result) => {
        if (result === "answered") return this.#drop();
        this.#flush();
        return controller.resume();
      })
      .catch((error: Error) => {
        // An answer that has come whole cannot be aborted any more.
        if (this.#end) this.#handler.onResponseError?.(controller, error);
        else controller.abort(error);
      });
  }

  #over(answer: Beginning | undefined): Promise<void | "answered"> | undefined {
    this.#wasObserved = true;
    try {
      return this.#observer.over(answer, this.#isSent);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #flush(): void {
    for (const step of this.#waiting ?? []) step();
    this.#waiting = undefined;
  }

  #drop(): void {
    this.#waiting = undefined;
    this.#handler.onReplaced?.(this.#end !== undefined);
    this.#end?.();
  }
}
