import type { IncomingMessage, ServerResponse } from "node:http";
import { corsList, legacyCorsList } from "../../http/cors.ts";
import { sendWhole } from "../../http/httpServer.ts";
import { isBelow, pathOf } from "../../http/requestTarget.ts";
import { unstoredHeaders } from "../../http/unstoredHeaders.ts";
import type { BucketSize } from "./buckets.ts";

/** Whose pages may read the refusals of the new interface, and where that is. */
type RefusalSettings = { corsOrigins: readonly string[]; prefixes: readonly string[] };

const body = Buffer.from(JSON.stringify({ detail: "Too many requests: see Retry-After." }));

/**
 * Answers 429 with `Retry-After` (seconds) and the fields `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-10:
 * `q` requests in a window of `w` seconds, of which `r` are left, for `t` seconds.
 */
export const openRefusals = ({ rate, burst }: BucketSize, { corsOrigins, prefixes }: RefusalSettings) => {
  const policy = `"caller";q=${burst};w=${Math.ceil(burst / rate)}`;
  return (request: IncomingMessage, response: ServerResponse, wait: number): void => {
    const seconds = String(Math.max(1, Math.ceil(wait / 1000)));
    const path = pathOf(request.url ?? "/");
    const isOurs = prefixes.some((prefix) => prefix === "/" || isBelow(path, prefix));
    const headers = [
      ...unstoredHeaders("application/json", body.length),
      "Retry-After",
      seconds,
      "RateLimit-Policy",
      policy,
      "RateLimit",
      `"caller";r=0;t=${seconds}`,
      ...(isOurs ? corsList(corsOrigins, request.headers.origin) : legacyCorsList),
    ];
    sendWhole(response, { status: 429, headers, body: request.method === "HEAD" ? undefined : body });
  };
};
