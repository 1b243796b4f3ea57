import type { UpstreamSettings } from "./upstream.ts";
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
