import type { Dispatcher } from "undici";
import type { Beginning } from "../upstream/answerBeginning.ts";

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

const nothing = Buffer.alloc(0);

/**
 * A handler that passes each event on. It holds the answer's events until the observer is done with the beginning of
 * the answer. `onFault` gets errors of the observer after the request has failed.
 */
export const heldAnswer = (
  handler: ReplaceableHandler,
  observer: Pick<ResponseObserver, "over">,
  onFault: (error: unknown) => void,
): ReplaceableHandler => {
  /** The head of the answer, until the first event of its body. */
  let held: Start | undefined;
  /** Events that wait for the observer: the end and failures come even while the upstream is paused. */
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
  /** Passes on the end of the whole answer only. */
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
      // This throws if the request is over already: it is then not sent.
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
