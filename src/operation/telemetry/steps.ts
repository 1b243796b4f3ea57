import { channel, tracingChannel } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import type { RequestContext } from "./exchange.ts";

/**
 * What is done for a request, beside the request itself. `attributes`: names and numbers of ours, never a key
 * or a value of a client's.
 */
export type TracedStep = { name: "cache" | "legacy" | "modern" | "transform"; attributes: Record<string, string> };

/**
 * The steps of requests. One whose result is a promise ends when it is settled. Without a
 * subscriber a step costs nothing.
 */
export const steps = tracingChannel<TracedStep, RequestContext | undefined>("catalog-gateway.step");

/** A request that begins; a subscriber may change the trace context that legacy and modern get. */
export type RequestBegin = { context: RequestContext; request: IncomingMessage };
/** Requests that begin, without those that the hit path answers. */
export const requestBegins = channel("catalog-gateway.request");

/** Runs a step of a request. */
export const runStep = <T>(name: TracedStep["name"], attributes: TracedStep["attributes"], run: () => T): T =>
  steps.hasSubscribers ? steps.traceSync(run, { name, attributes }) : run();
