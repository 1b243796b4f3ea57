import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { LegacyKind, LegacyTarget, ReadLegacyTarget } from "../../catalogue/index.ts";
import { scrubTarget } from "../secrets/scrub.ts";
import { callerOfRequest, type RequestCaller } from "./requestCaller.ts";

/** The beginning of all request ids: as unique as UUIDs, over gateways and starts, at the price of a counter. */
const start = randomBytes(9).toString("base64url").replaceAll(/[-_]/g, "0");
let requests = 0;

/** An `X-Request-Id` that may be used. */
const requestId = /^[\w.-]{1,128}$/;

/**
 * Reads what a request says about itself. `trusted`: true if this peer's `X-Request-Id` and `X-Forwarded-For` are
 * trusted.
 */
export type RequestReaders = {
  trusted: (address: string) => boolean;
  readTarget?: ReadLegacyTarget;
  kindOf?: (request: { method: string; path: string }, target: LegacyTarget | undefined) => LegacyKind;
};

const strict: RequestReaders = { trusted: () => false };

/** A request of a client and its answer, as logs and traces describe it. All times are in milliseconds. */
export class HttpExchange {
  /** The `X-Request-Id` of the answer: a trusted proxy's, or a new id. */
  readonly id: string;
  /** On the clock of `performance.now()`. */
  readonly started = performance.now();
  /** Until the answer began; `undefined` before that, and for an answer that was sent at once. */
  begunAfter: number | undefined;
  /** The status of the answer; 0 until it has begun. */
  status = 0;
  /** The bytes of the answer's body, without its framing. */
  bytes = 0;
  /** The gateway refused the request before it looked at its target. */
  isRefused = false;
  /** The answer goes to the client later: the exchange is over when the response has closed. */
  isDeferred = false;
  /** The request was passed through to legacy, or would have been. */
  isProxied = false;
  /** The name of a read of legacy's interface that CACHE_LEGACY covers: it is counted under that name. */
  oldRead: string | undefined;
  /** Its client got only a part of an answer, or something that is not an answer of a backend. */
  hasFailed = false;
  endpoint: string | undefined;
  /** The source of the answer, as the metrics name it: `hit`, `miss`, `stale` ... */
  cache: string | undefined;
  stage: string | undefined;
  backend: string | undefined;
  /** The number of its requests to legacy and modern until now, and the time of all of them together. */
  upstreamCalls = 0;
  upstreamMs = 0;
  #request: IncomingMessage | undefined;
  readonly #readers: RequestReaders;
  #path: string | undefined;
  #caller: RequestCaller | undefined;
  #target: LegacyTarget | "none" | undefined;
  #kind: LegacyKind | undefined;

  /** `request`: `undefined` if none was read. */
  constructor(request?: IncomingMessage, readers: RequestReaders = strict) {
    const sentId = request?.headers["x-request-id"];
    const isTaken =
      typeof sentId === "string" && requestId.test(sentId) && readers.trusted(request?.socket.remoteAddress ?? "");
    this.id = isTaken ? sentId : `${start}-${(requests++).toString(36)}`;
    this.#request = request;
    this.#readers = readers;
  }

  /** The caller of the request; `undefined` if no request was read, or it was released. */
  get caller(): RequestCaller | undefined {
    if (this.#request !== undefined) this.#caller ??= callerOfRequest(this.#request, this.#readers.trusted);
    return this.#caller;
  }

  /** The target as it was sent; `undefined` if no request was read, or it was released. */
  get url(): string | undefined {
    return this.#request?.url;
  }

  /** The target in legacy's interface; `undefined` if the request is not for that interface. */
  get target(): LegacyTarget | undefined {
    if (this.#request !== undefined) this.#target ??= this.#readers.readTarget?.(this.#request.url ?? "/") ?? "none";
    return this.#target === "none" ? undefined : this.#target;
  }

  /** The kind of a request to legacy; `undefined` if no request was read, or it was released. */
  get kind(): LegacyKind | undefined {
    if (this.#request === undefined) return undefined;
    const { method = "GET", url: path = "/" } = this.#request;
    return (this.#kind ??= this.#readers.kindOf?.({ method, path }, this.target));
  }

  /** Counts a request to legacy or modern that has ended. */
  countCall(ms: number): void {
    this.upstreamCalls++;
    this.upstreamMs += ms;
  }

  /** Notes that the answer begins, with this status. */
  begin(status: number): void {
    this.status = status;
    if (this.isDeferred) this.begunAfter = performance.now() - this.started;
  }

  /**
   * The part of the target that a log line may show; `undefined` if no request was read, or it was released before a
   * line needed it.
   */
  get path(): string | undefined {
    const { url } = this;
    if (this.#path === undefined && url !== undefined) this.#path = this.shown(url);
    return this.#path;
  }

  /** The part that a log line may show of a target requested on behalf of this request, without the request's keys. */
  shown(target: string): string {
    return scrubTarget(target, this.caller?.credential.given ?? []);
  }

  /** Releases the request: work that goes on after the answer must not keep a key in memory. */
  forget(): void {
    this.#request = undefined;
    this.#caller = undefined;
    this.#target = undefined;
  }
}

/** The property of a response that holds its exchange. */
export const exchangeKey = Symbol("exchange");

/** The exchange of a response; a response of another server than the gateway's gets a new exchange. */
export const exchangeOf = (response: ServerResponse & { [exchangeKey]?: HttpExchange }): HttpExchange =>
  (response[exchangeKey] ??= new HttpExchange());

/**
 * The context of all work for a request. `traceparent`, `tracestate`: sent to legacy and modern (W3C Trace Context).
 */
export type RequestContext = {
  exchange: HttpExchange;
  traceparent?: string | undefined;
  tracestate?: string | undefined;
  /** The data that a feature that observes steps has about the running step. */
  step?: unknown;
};

/**
 * The context of the running work; `undefined` for work that the gateway starts itself. A feature that observes steps
 * gives each step its own context.
 */
export const contexts = new AsyncLocalStorage<RequestContext | undefined>();

/** The part that a log line may show of a target that is requested now. */
export const shownTarget = (target: string): string =>
  contexts.getStore()?.exchange.shown(target) ?? scrubTarget(target);

/** The headers of a request to legacy or modern, flat: `X-Request-Id`, `traceparent`, `tracestate`. */
export const propagatedHeaders = ({ exchange, traceparent, tracestate }: RequestContext): string[] => {
  const headers = ["X-Request-Id", exchange.id];
  if (traceparent === undefined) return headers;
  headers.push("traceparent", traceparent);
  if (tracestate !== undefined) headers.push("tracestate", tracestate);
  return headers;
};

/** The members of a `traceparent`, in hexadecimal digits. */
const traceparentForm =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?$/;

/** The most characters of a `tracestate`; the recommendation asks for at least 512. */
const MAX_STATE = 1024;
const MAX_MEMBERS = 32;
const member = /^[ \t]*(?:[a-z0-9][\w*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256})?[ \t]*$/;

type TraceContext = { traceparent: string; tracestate?: string };

/** The trace context of a client (W3C Trace Context, level 1); empty if it has none, or an invalid context. */
export const traceContextOf = (headers: IncomingHttpHeaders): TraceContext | undefined => {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string" || traceparent.length > MAX_STATE) return undefined;
  const [, version, , , , rest] = traceparentForm.exec(traceparent) ?? [];
  // Version 00 has these four members; a later version may have more.
  if (version === undefined || (version === "00" && rest !== undefined)) return undefined;
  const state = Array.isArray(tracestate) ? tracestate.join(",") : tracestate;
  return state === undefined || !isState(state) ? { traceparent } : { traceparent, tracestate: state };
};

const isState = (text: string): boolean => {
  if (text.length > MAX_STATE) return false;
  const members = text.split(",");
  return members.length <= MAX_MEMBERS && members.every((part) => member.test(part));
};
