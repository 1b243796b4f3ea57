import type { RequestListener, ServerResponse } from "node:http";
import { exchangeOf } from "../../operation/index.ts";
import { ownReply } from "./ownErrors.ts";
import { sendLast } from "./refusal.ts";

/** Handles requests whose handler throws: a fault of the gateway costs only that answer, not the process. */
export type Guard = {
  /**
   * Ends the response of a request whose handler has thrown: with a 500 if the head has not been sent, else by closing
   * the connection.
   */
  fail: (response: ServerResponse, error: unknown) => void;
  /** The same listener, except that an error that it throws fails only its request. Later errors are not caught. */
  guarded: (listener: RequestListener) => RequestListener;
};

/** The error for a client whose request met a fault of the gateway. */
export const internalError = { status: 500, detail: "Internal Server Error" } as const;

/** Opens a guard. `report` gets each error. */
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
