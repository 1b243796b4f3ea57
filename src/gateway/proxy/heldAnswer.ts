import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { constants, gunzipSync } from "node:zlib";

/** An answer's head, and the first of its body. */
export type Beginning = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** Observes a proxied request and its answer. */
export type ResponseObserver = {
  /** A part of its body. */
  chunk: (bytes: Buffer) => void;
  /**
   * Called once, with the beginning of the answer, which goes on when the promise is done; or with `undefined`: there is no answer.
   * `isSent`: the upstream may have received a part of the request.
   */
  over(answer: Beginning | undefined, isSent: boolean): Promise<void> | undefined;
};

type Handler = Dispatcher.DispatchHandler;
type Start = Parameters<NonNullable<Handler["onResponseStart"]>>;

const nothing = Buffer.alloc(0);

/** The same handler, but an answer reaches it only when the observer is done with its beginning. */
export const heldAnswer = (handler: Handler, observer: ResponseObserver): Handler => {
  let held: Start | undefined;
  /** Events that came before the observer was done: pausing holds up neither the end nor a failure. */
  let waiting: (() => void)[] | undefined;
  let wasObserved = false;
  let isOver = false;
  let isSent = false;
  const over = (answer: Beginning | undefined) => {
    wasObserved = true;
    return observer.over(answer, isSent);
  };
  const flush = (): void => {
    for (const step of waiting ?? []) step();
    waiting = undefined;
  };
  const release = ([controller, status, headers, reason]: Start, body: Buffer, rest: () => void): void => {
    held = undefined;
    waiting = [() => handler.onResponseStart?.(controller, status, headers, reason), rest];
    const done = over({ status, headers, body });
    if (done === undefined) return flush();
    controller.pause();
    done
      .then(() => {
        flush();
        return controller.resume();
      })
      .catch((error: Error) => {
        // An answer that is over cannot be aborted any more.
        if (isOver) handler.onResponseError?.(controller, error);
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
      isOver = true;
      pass(nothing, () => handler.onResponseEnd?.(controller, trailers));
    },
    onResponseError(controller, error) {
      if (!wasObserved) void over(undefined);
      waiting?.splice(0);
      handler.onResponseError?.(controller, error);
    },
  };
};

/** Most bytes that are unzipped. */
const MAX_UNZIPPED = 1024 * 1024;

/** The beginning of an answer's body, unzipped; empty where it cannot be unzipped. */
export const plainBody = ({ headers, body }: Beginning): Buffer => {
  if (headers["content-encoding"] !== "gzip") return body;
  try {
    return gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MAX_UNZIPPED });
  } catch {
    return Buffer.alloc(0);
  }
};
