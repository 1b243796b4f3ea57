import type { RequestListener, ServerResponse } from "node:http";
import { answerWhole } from "./refusal.ts";
import type { WriteError } from "./problemDetails.ts";

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

/** `report` gets each error. `write` writes the 500 as its client wants errors. */
export const openGuard = (report: (error: unknown) => void, write: WriteError): Guard => {
  const fail = (response: ServerResponse, error: unknown): void => {
    report(error);
    if (!response.headersSent) answerWhole(response, { status: 500, detail: "Internal Server Error" }, write);
    else if (!response.writableEnded) response.destroy();
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
