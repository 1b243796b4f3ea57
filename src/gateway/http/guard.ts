import type { RequestListener, ServerResponse } from "node:http";
import { exchangeOf } from "../../operation/index.ts";
import { ownReply } from "./ownErrors.ts";
import { sendLast } from "./refusal.ts";

/** What becomes of a request whose handler throws: a mistake of the gateway costs one answer, not the process. */
export type Guard = {
  /**
   * Ends the response of a request whose handler has thrown: by a 500 where no head has gone out, else
   * by closing the connection.
   */
  fail: (response: ServerResponse, error: unknown) => void;
  /** The same listener; what it throws fails its request. What it does later is not covered. */
  guarded: (listener: RequestListener) => RequestListener;
};

/** What the client is told of a fault. */
export const internalError = { status: 500, detail: "Internal Server Error" } as const;

/** `report` gets each error. */
export const openGuard = (report: (error: unknown) => void): Guard => {
  const fail = (response: ServerResponse, error: unknown): void => {
    try {
      if (!response.headersSent) sendLast(response, ownReply(response, internalError));
    } finally {
      if (!response.writableEnded) {
        exchangeOf(response).hasFailed = true;
        response.destroy();
      }
      report(error);
    }
  };
  return {
    fail,
    guarded: (listener) => (request, response) => {
      try {
        listener(request, response);
      } catch (error) {
        fail(response, error);
      }
    },
  };
};
