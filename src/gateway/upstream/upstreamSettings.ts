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

/** Milliseconds for a read of legacy's interface that is collected: for a connection, the head and the body. */
export const collectTimeout = ({ HEADERS_TIMEOUT_MS, BODY_TIMEOUT_MS }: Settings): number =>
  WAIT_TIMEOUT + CONNECT_TIMEOUT + HEADERS_TIMEOUT_MS + BODY_TIMEOUT_MS;

/** Milliseconds that nothing takes for which several requests wait, unless code of the gateway has failed. */
export const sharedTimeout = (settings: Settings): number => collectTimeout(settings) + settings.TOTAL_TIMEOUT_MS;

/**
 * Milliseconds that no answer takes to begin, whatever it waits for, unless code of the gateway has failed. An old read
 * passes after it was collected in vain, so legacy may be asked twice.
 */
export const answerTimeout = (settings: Settings): number => sharedTimeout(settings) + collectTimeout(settings);
