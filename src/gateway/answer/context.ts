import type { IncomingMessage, ServerResponse } from "node:http";
import type { LegacyRequest, Unsent } from "../../catalogue/index.ts";
import {
  callerOfRequest,
  exchangeOf,
  headerOf,
  type Holding,
  HttpExchange,
  RequestCaller,
} from "../../operation/index.ts";
import type { Directives } from "../cache/cacheRequest.ts";
import type { Served } from "../cache/served.ts";
import type { Caller } from "../upstream/legacyClient.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** A request as it came, over a socket or from a program in this process. */
export type Received = {
  method: string;
  /** Path and query as they were sent: the URL of a web request is normalised. */
  target: string;
  /** A header's value, all of its lines joined by commas. */
  header: (name: string) => string | undefined;
  body: () => AsyncIterable<Uint8Array> | null;
  caller: RequestCaller;
  /** Node's own request, where there is one. */
  incoming?: IncomingMessage | undefined;
  exchange: HttpExchange;
  /** The bytes of its body, then of its answer until that is sent. */
  holding: Holding;
};

/**
 * A request of the new interface on its way to its answer: as it was received, its caller, and its endpoint and input.
 * It is made once the input has been read, and handed along; a layer that asks for something else hands on a copy.
 */
export type Context = Omit<Received, "holding"> &
  Caller & {
    endpoint: PreparedEndpoint;
    input: Record<string, unknown>;
    legacy: LegacyRequest | Unsent;
    wanted: Directives;
    /** The answer is neither taken from the cache nor stored. */
    bypass?: boolean;
  };

/** The parts of a request by which a feature may choose the side that answers its caller. */
export type CallerIdentity = Pick<Context, "caller" | "header">;

/** Says whether a peer's forwarded headers are believed. */
type Trusted = (address: string) => boolean;

/** A request that came over a socket. */
export const fromNode = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  holding: Holding,
  trusted: Trusted,
): Received => {
  const exchange = exchangeOf(outgoing);
  return {
    method: incoming.method ?? "GET",
    target: incoming.url ?? "/",
    header: (name) => headerOf(incoming, name),
    // A body that is not read to its end must not take its connection, and our answer, with it.
    body: () => incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>,
    caller: exchange.caller ?? callerOfRequest(incoming, trusted),
    incoming,
    exchange,
    holding,
  };
};

/** A request of a program in this process; of `incoming` the target and the connection are taken. */
export const fromWeb = (
  web: Request,
  incoming: IncomingMessage | undefined,
  holding: Holding,
  trusted: Trusted,
): Received => {
  const target = incoming?.url ?? web.url.replace(/^https?:\/\/[^/]*/, "");
  const header = (name: string) => web.headers.get(name) ?? undefined;
  const remoteAddress = incoming?.socket.remoteAddress;
  return {
    method: web.method,
    target,
    header,
    body: () => web.body,
    caller: new RequestCaller({ target, header, remoteAddress, forwardedFor: header("x-forwarded-for") }, trusted),
    incoming,
    exchange: new HttpExchange(),
    holding,
  };
};

/** Answers one request. */
export type Handler = (context: Context) => Promise<Served>;

/** Adds to a handler, as undici's interceptors add to a dispatcher. */
export type Layer = (next: Handler) => Handler;
