import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { constants, gunzipSync } from "node:zlib";

/** An answer's head, and the first of its body. */
export type Beginning = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** Looks on while a request that may write passes through. */
export type ResponseObserver = {
  /** A part of its body. */
  chunk: (bytes: Buffer) => void;
  /**
   * Called once: an answer has begun, and goes on when this is done; or (`undefined`) there will be none. `isSent`: the upstream may have got
   * something of the request.
   */
  over(answer: Beginning | undefined, isSent: boolean): Promise<void> | undefined;
};

type Handler = Dispatcher.DispatchHandler;
type Start = Parameters<NonNullable<Handler["onResponseStart"]>>;

const nothing = Buffer.alloc(0);

/** The same handler, but an answer reaches it only when the one who looks on has seen how it begins, and is done with it. */
export const heldAnswer = (handler: Handler, observer: ResponseObserver): Handler => {
  let held: Start | undefined;
  /** What has come before the one who looks on was done: pausing holds up neither the end nor a failure. */
  let waiting: (() => void)[] | undefined;
  let isTold = false;
  let isOver = false;
  let isSent = false;
  const over = (answer: Beginning | undefined) => {
    isTold = true;
    return observer.over(answer, isSent);
  };
  const letGo = (): void => {
    for (const step of waiting ?? []) step();
    waiting = undefined;
  };
  const release = ([controller, status, headers, reason]: Start, body: Buffer, rest: () => void): void => {
    held = undefined;
    waiting = [() => handler.onResponseStart?.(controller, status, headers, reason), rest];
    const done = over({ status, headers, body });
    if (done === undefined) return letGo();
    controller.pause();
    done
      .then(() => {
        letGo();
        return controller.resume();
      })
      .catch((error: Error) => {
        // An answer that is over cannot be given up any more.
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
      // Throws where nobody waits for it any more: then nothing is sent.
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
      if (!isTold) void over(undefined);
      waiting?.splice(0);
      handler.onResponseError?.(controller, error);
    },
  };
};

/** As much as is unzipped, in bytes. */
const MOST = 1024 * 1024;

/** The beginning of an answer's body as it was before it was zipped for the client; nothing where that cannot be told. */
export const plainBody = ({ headers, body }: Beginning): Buffer => {
  if (headers["content-encoding"] !== "gzip") return body;
  try {
    return gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST });
  } catch {
    return Buffer.alloc(0);
  }
};
