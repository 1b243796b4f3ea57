import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

/** An answer's head, and the first of its body. */
export type Beginning = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** Looks on while a request that may write passes through. */
export type Watch = {
  /** A part of its body. */
  chunk: (bytes: Buffer) => void;
  /** Called once: an answer has begun, and goes on when this is done; or (`undefined`) there will be none. */
  over(answer: Beginning | undefined): Promise<void> | undefined;
};

type Handler = Dispatcher.DispatchHandler;
type Start = Parameters<NonNullable<Handler["onResponseStart"]>>;

const nothing = Buffer.alloc(0);

/** The same handler, but an answer reaches it only when the one who looks on has seen how it begins, and is done with it. */
export const heldAnswer = (handler: Handler, watch: Watch): Handler => {
  let held: Start | undefined;
  let isTold = false;
  const over = (answer: Beginning | undefined) => {
    isTold = true;
    return watch.over(answer);
  };
  /** Lets the head go, and then the rest. */
  const release = ([controller, status, headers, reason]: Start, body: Buffer, rest: () => void): void => {
    held = undefined;
    const go = () => {
      handler.onResponseStart?.(controller, status, headers, reason);
      rest();
    };
    const done = over({ status, headers, body });
    if (done === undefined) return go();
    controller.pause();
    void done.then(() => {
      if (!controller.aborted) go();
      return controller.resume();
    });
  };
  return {
    onRequestStart: (...args) => handler.onRequestStart?.(...args),
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onBodySent: (...args) => handler.onBodySent?.(...args),
    onRequestSent: () => handler.onRequestSent?.(),
    onResponseStarted: () => handler.onResponseStarted?.(),
    onResponseStart(...start) {
      if (start[1] < 200) handler.onResponseStart?.(...start);
      else held = start;
    },
    onResponseData(controller, chunk) {
      if (held) release(held, chunk, () => handler.onResponseData?.(controller, chunk));
      else handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd(controller, trailers) {
      if (held) release(held, nothing, () => handler.onResponseEnd?.(controller, trailers));
      else handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      if (!isTold) void over(undefined);
      handler.onResponseError?.(controller, error);
    },
  };
};
