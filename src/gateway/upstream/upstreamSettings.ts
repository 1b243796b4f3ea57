import type { UpstreamSettings } from "./upstream.ts";
import type { Settings } from "../../operation/settings/settings.ts";

/** The limits and timeouts (milliseconds) of connections to any backend. */
export const upstreamSettings = (settings: Settings) =>
  ({
    connections: settings.MAX_CONNECTIONS,
    connectTimeout: settings.CONNECT_TIMEOUT_MS,
    headersTimeout: settings.HEADERS_TIMEOUT_MS,
    bodyTimeout: settings.BODY_TIMEOUT_MS,
  }) satisfies Partial<UpstreamSettings>;
