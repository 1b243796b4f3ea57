import type { Dispatcher } from "undici";
import type { Beginning } from "../upstream/answerBeginning.ts";

/** Observes a proxied request and its answer. */
export type ResponseObserver = {
  /** Gets each part of the request's body. */
  chunk: (bytes: Buffer) => void;
  /**
   * Called once, with the beginning of the answer; `undefined`: the request has failed without one. The client gets the
   * answer when the promise resolves, unless to `"answered"`: then the client has another one, and the rest of this one
   * is dropped. `isSent`: the upstream may have received a part of the request.
   */
  over(answer: Beginning | undefined, isSent: boolean): Promise<void | "answered"> | undefined;
};

/**
 * `onReplaced`: the client has got another answer. `isWhole`: the end of this one still comes;
 * otherwise the handler gives it up.
 */
type ReplaceableHandler = Dispatcher.DispatchHandler & { onReplaced?(isWhole: boolean): void };
type Start = Parameters<NonNullable<ReplaceableHandler["onResponseStart"]>>;

const nothing = Buffer.alloc(0);

/**
 * A handler that passes each event on, the answer's only when the observer is done with the beginning of the answer.
 * `onFault` gets what fails where the request has failed already.
 */
export const heldAnswer = (
  handler: ReplaceableHandler,
  observer: Pick<ResponseObserver, "over">,
  onFault: (error: unknown) => void,
): ReplaceableHandler => {
  /** The head of the answer, until the first event of its body. */
  let held: Start | undefined;
  /** Events that wait for the observer; pausing the upstream holds up neither the end nor a failure. */
  let waiting: (() => void)[] | undefined;
  let wasObserved = false;
  /** The whole answer has come. */
  let isWhole = false;
  let isSent = false;
  const over = (answer: Beginning | undefined) => {
    wasObserved = true;
    try {
      return observer.over(answer, isSent);
    } catch (error) {
      return Promise.reject(error);
    }
  };
  const flush = (): void => {
    for (const step of waiting ?? []) step();
    waiting = undefined;
  };
  /** The end of the whole answer, without what comes before it. */
  let end: (() => void) | undefined;
  const drop = (): void => {
    waiting = undefined;
    handler.onReplaced?.(isWhole);
    if (isWhole) end?.();
  };
  const release = ([controller, status, headers, reason]: Start, body: Buffer, rest: () => void): void => {
    held = undefined;
    waiting = [() => handler.onResponseStart?.(controller, status, headers, reason), rest];
    const done = over({ status, headers, body });
    if (done === undefined) return flush();
    controller.pause();
    done
      .then((result) => {
        if (result === "answered") return drop();
        flush();
        return controller.resume();
      })
      .catch((error: Error) => {
        // An answer that has come whole cannot be aborted any more.
        if (isWhole) handler.onResponseError?.(controller, error);
        else controller.abort(error);
      });
  };
  const pass = (body: Buffer, step: () => void): void => {
    if (held) release(held, body, step);
    else if (waiting) waiting.push(step);
    else step();
  };
  return {
    onRequestStart(...args) {
      // Throws where the request is over already: then it is not sent.
      handler.onRequestStart?.(...args);
      isSent = true;
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onBodySent: (...args) => handler.onBodySent?.(...args),
    onRequestSent: () => handler.onRequestSent?.(),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onResponseStart(...start) {
      if (start[1] < 200) handler.onResponseStart?.(...start);
      else held = start;
    },
    onResponseData: (controller, chunk) => pass(chunk, () => handler.onResponseData?.(controller, chunk)),
    onResponseEnd(controller, trailers) {
      isWhole = true;
      end = () => handler.onResponseEnd?.(controller, trailers);
      pass(nothing, end);
    },
    onResponseError(controller, error) {
      try {
        if (!wasObserved) over(undefined)?.catch(onFault);
        waiting?.splice(0);
      } finally {
        handler.onResponseError?.(controller, error);
      }
    },
  };
};
