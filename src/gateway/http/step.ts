import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * One that may answer requests: it answers, at once or later, or calls `next`, at once or later. What it does later
 * hands its errors, and those of `next`, to the guard.
 */
export type Step = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
