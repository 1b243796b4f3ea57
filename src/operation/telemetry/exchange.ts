import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { LegacyKind, LegacyTarget, ReadLegacyTarget } from "../../catalogue/index.ts";
import { scrubTarget } from "../secrets/scrub.ts";
import { callerOfRequest, type RequestCaller } from "./requestCaller.ts";

/** Ids of requests: as unique as a UUID for each, over gateways and starts, at the price of a counter. */
const start = randomBytes(9).toString("base64url").replaceAll(/[-_]/g, "0");
let requests = 0;

/** An `X-Request-Id` that may be taken. */
const requestId = /^[\w.-]{1,128}$/;

/**
 * How what a request says of itself is read. `trusted`: whether this peer's `X-Request-Id` and
 * `X-Forwarded-For` are believed.
 */
export type RequestReaders = {
  trusted: (address: string) => boolean;
  readTarget?: ReadLegacyTarget;
  kindOf?: (request: { method: string; path: string }, target: LegacyTarget | undefined) => LegacyKind;
};

const strict: RequestReaders = { trusted: () => false };

/** One request of a client and its answer, as logs and traces describe it. All times are in milliseconds. */
export class HttpExchange {
  /** The `X-Request-Id` of the answer: a trusted proxy's, or a new one. */
  readonly id: string;
  /** On the clock of `performance.now()`. */
  readonly started = performance.now();
  /** Until the answer began; `undefined` before that, and for one that was sent at once. */
  begunAfter: number | undefined;
  /** Of the answer; 0 until it has begun. */
  status = 0;
  /** Of the answer's body, without its framing. */
  bytes = 0;
  /** The gateway refused the request before it looked at what it asks for. */
  isRefused = false;
  /** The answer goes to the client later: the exchange is over when the response has closed. */
  isDeferred = false;
  /** It was passed through to legacy, or would have been. */
  isProxied = false;
  /** What a read of legacy's interface that CACHE_LEGACY covers asks for: it is counted by that. */
  oldRead: string | undefined;
  /** Its client got only a part of an answer, or something that is no answer of a backend. */
  hasFailed = false;
  endpoint: string | undefined;
  /** How the answer came about, as the metrics name it: `hit`, `miss`, `stale` ... */
  cache: string | undefined;
  stage: string | undefined;
  backend: string | undefined;
  /** The salted hash of the caller's key. */
  owner: string | undefined;
  /** Requests to legacy and modern for it until now, and the time of all of them together. */
  upstreamCalls = 0;
  upstreamMs = 0;
  #request: IncomingMessage | undefined;
  readonly #readers: RequestReaders;
  #path: string | undefined;
  #caller: RequestCaller | undefined;
  #target: LegacyTarget | "none" | undefined;
  #kind: LegacyKind | undefined;

  /** `request`: where one was read. */
  constructor(request?: IncomingMessage, readers: RequestReaders = strict) {
    const sentId = request?.headers["x-request-id"];
    const isTaken =
      typeof sentId === "string" && requestId.test(sentId) && readers.trusted(request?.socket.remoteAddress ?? "");
    this.id = isTaken ? sentId : `${start}-${(requests++).toString(36)}`;
    this.#request = request;
    this.#readers = readers;
  }

  /** Who sends the request; `undefined` where none was read, or it was let go. */
  get caller(): RequestCaller | undefined {
    if (this.#request !== undefined) this.#caller ??= callerOfRequest(this.#request, this.#readers.trusted);
    return this.#caller;
  }

  /** The target as it was sent; `undefined` where no request was read, or it was let go. */
  get url(): string | undefined {
    return this.#request?.url;
  }

  /** What the request asks legacy's interface for; `undefined` where it asks for something else. */
  get target(): LegacyTarget | undefined {
    if (this.#request !== undefined) this.#target ??= this.#readers.readTarget?.(this.#request.url ?? "/") ?? "none";
    return this.#target === "none" ? undefined : this.#target;
  }

  /** The kind of a request to legacy; `undefined` where no request was read, or it was let go. */
  get kind(): LegacyKind | undefined {
    if (this.#request === undefined) return undefined;
    const { method = "GET", url: path = "/" } = this.#request;
    return (this.#kind ??= this.#readers.kindOf?.({ method, path }, this.target));
  }

  /** A request to legacy or modern for it is over. */
  countCall(ms: number): void {
    this.upstreamCalls++;
    this.upstreamMs += ms;
  }

  /** The answer begins, with this status. */
  begin(status: number): void {
    this.status = status;
    if (this.isDeferred) this.begunAfter = performance.now() - this.started;
  }

  /**
   * What a log line may show of the target; `undefined` where no request was read, or it was let go
   * before a line needed it.
   */
  get path(): string | undefined {
    const { url } = this;
    if (this.#path === undefined && url !== undefined) this.#path = this.shown(url);
    return this.#path;
  }

  /**
   * What a log line may show of a target that is asked for on behalf of this request: its keys stand in no part of it.
   */
  shown(target: string): string {
    return scrubTarget(target, this.caller?.keys ?? []);
  }

  /** Releases the request: work that goes on after the answer must not keep a key in memory. */
  forget(): void {
    this.#request = undefined;
    this.#caller = undefined;
    this.#target = undefined;
  }
}

/** Where a response has its exchange. */
export const exchangeKey = Symbol("exchange");

/** The exchange that a response belongs to; a response of another server than the gateway's gets one now. */
export const exchangeOf = (response: ServerResponse & { [exchangeKey]?: HttpExchange }): HttpExchange =>
  (response[exchangeKey] ??= new HttpExchange());

/**
 * Shared by all work for one request. `traceparent`, `tracestate`: what goes to legacy and modern (W3C Trace Context).
 */
export type RequestContext = {
  exchange: HttpExchange;
  traceparent?: string | undefined;
  tracestate?: string | undefined;
  /** What a feature that observes steps knows of the step that runs. */
  step?: unknown;
};

/** The context of the running work. A feature that observes steps gives each step its own. */
export const contexts = new AsyncLocalStorage<RequestContext | undefined>();

/** Runs what is done for a request: all that it begins finds its context. */
export const inContext = <T>(context: RequestContext, run: () => T): T => contexts.run(context, run);

/** The context of the request that this is done for; `undefined` for what the gateway does by itself. */
export const currentContext = (): RequestContext | undefined => contexts.getStore();

/** What a log line may show of a target that is asked for now. */
export const shownTarget = (target: string): string => currentContext()?.exchange.shown(target) ?? scrubTarget(target);

/** Headers that a request to legacy or modern gets, flat: `X-Request-Id`, `traceparent`, `tracestate`. */
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

/** Characters that a `tracestate` may have; the recommendation asks for 512 at least. */
const MAX_STATE = 1024;
const MAX_MEMBERS = 32;
const member = /^[ \t]*(?:[a-z0-9][\w*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256})?[ \t]*$/;

type TraceContext = { traceparent: string; tracestate?: string };

/** The trace context of a client (W3C Trace Context, level 1); empty where it has none, or one that is not valid. */
export const traceContextOf = (headers: IncomingHttpHeaders): TraceContext | undefined => {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string" || traceparent.length > MAX_STATE) return undefined;
  const [, version, , , , rest] = traceparentForm.exec(traceparent) ?? [];
  // Version 00 has these four members; a later one may have more.
  if (version === undefined || (version === "00" && rest !== undefined)) return undefined;
  const state = Array.isArray(tracestate) ? tracestate.join(",") : tracestate;
  return state === undefined || !isState(state) ? { traceparent } : { traceparent, tracestate: state };
};

const isState = (text: string): boolean => {
  if (text.length > MAX_STATE) return false;
  const members = text.split(",");
  return members.length <= MAX_MEMBERS && members.every((one) => member.test(one));
};
