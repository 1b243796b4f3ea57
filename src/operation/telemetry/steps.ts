import { channel, tracingChannel } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { contexts, type RequestContext } from "./exchange.ts";

/** A step of the work for a request. `attributes`: fixed names and numbers, never a key or a value of a client. */
type TracedStep = { name: "cache" | "legacy" | "modern" | "transform"; attributes: Record<string, string> };

/**
 * The steps of requests. A step whose result is a promise ends when the promise is settled. Without a subscriber a step
 * costs nothing.
 */
export const steps = tracingChannel<TracedStep, RequestContext | undefined>("catalog-gateway.step");

/** A request that begins. */
type RequestBegin = { context: RequestContext; request: IncomingMessage };
/** Requests that begin, without those that the hit path answers. */
export const requestBegins = channel("catalog-gateway.request");

/** Runs a step of a request. */
export const runStep = <T>(name: TracedStep["name"], attributes: TracedStep["attributes"], run: () => T): T =>
  steps.hasSubscribers ? steps.traceSync(run, { name, attributes }) : run();

/** The observer of requests and their steps. */
type StepsObserver = {
  /** A request begins. The trace context that legacy and modern get may be changed. */
  onRequest: (begin: RequestBegin) => void;
  /** A step begins: the result is the context that it runs in. `context`: the context of the work that begins it. */
  onBegin: (step: TracedStep, context: RequestContext | undefined) => RequestContext | undefined;
  /** A step has ended, or its `result` is a promise. */
  onEnd: (step: TracedStep & { result?: unknown; error?: unknown }) => void;
};

/**
 * Observes all requests of this process, except those that the hit path answers. The result ends that. There may be
 * only one observer: a second would take the steps of the first.
 */
export const observeSteps = ({ onRequest, onBegin, onEnd }: StepsObserver): (() => void) => {
  const begin = (message: unknown): void => onRequest(message as RequestBegin);
  const ends = { end: onEnd };
  requestBegins.subscribe(begin);
  steps.start.bindStore(contexts, (step) => onBegin(step, contexts.getStore()));
  steps.subscribe(ends);
  return () => {
    requestBegins.unsubscribe(begin);
    steps.start.unbindStore(contexts);
    steps.unsubscribe(ends);
  };
};
