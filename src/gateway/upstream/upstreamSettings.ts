import { type UpstreamSettings, WAIT_TIMEOUT } from "./upstream.ts";
import type { Settings } from "../../operation/index.ts";

/** Milliseconds that connecting to a backend may take, TLS included. */
const CONNECT_TIMEOUT = 5000;

/** The limits and timeouts (milliseconds) of connections to any backend. */
export const upstreamSettings = (settings: Settings) =>
  ({
    connections: settings.MAX_CONNECTIONS,
    connectTimeout: CONNECT_TIMEOUT,
    headersTimeout: settings.HEADERS_TIMEOUT_MS,
    bodyTimeout: settings.BODY_TIMEOUT_MS,
  }) satisfies Partial<UpstreamSettings>;

/** Milliseconds for a collected read of legacy's interface: for a connection, the head and the body. */
export const collectTimeout = ({ HEADERS_TIMEOUT_MS, BODY_TIMEOUT_MS }: Settings): number =>
  WAIT_TIMEOUT + CONNECT_TIMEOUT + HEADERS_TIMEOUT_MS + BODY_TIMEOUT_MS;

/** Milliseconds after which a fetch that several requests share must be over; if not, the gateway has a fault. */
export const sharedTimeout = (settings: Settings): number => collectTimeout(settings) + settings.TOTAL_TIMEOUT_MS;

/**
 * Milliseconds after which any answer must have begun; if not, the gateway has a fault. A read of an old client may ask
 * legacy twice: it is proxied if it could not be collected.
 */
export const answerTimeout = (settings: Settings): number => sharedTimeout(settings) + collectTimeout(settings);
