import { codeOf, connectionReset } from "./failure.ts";

const connectionFailed = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED", connectionReset]);

/** Whether a request without a body may be sent once more: only GET and HEAD, only on a failed connection, before any byte of an answer. */
export const maySendAgain = (method: string, answered: boolean, error: unknown): boolean =>
  !answered && (method === "GET" || method === "HEAD") && connectionFailed.has(codeOf(error));
