import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * A step of handling a request: it either answers or calls `next`, at once or later. If it does so later, it gives its
 * errors, and those of `next`, to the guard.
 */
export type Step = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
