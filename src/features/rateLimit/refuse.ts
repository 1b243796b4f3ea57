import type { IncomingMessage, ServerResponse } from "node:http";
import { corsList, legacyCorsList } from "../../http/cors.ts";
import { sendWhole } from "../../http/httpServer.ts";
import type { WriteError } from "../../http/problemDetails.ts";
import { isBelowAny, pathOf } from "../../http/requestTarget.ts";
import { unstoredHeaders } from "../../http/unstoredHeaders.ts";
import type { BucketSize } from "./buckets.ts";

/** Whose pages may read the refusals of the new interface, and where that is. */
type RefusalSettings = { corsOrigins: readonly string[]; prefixes: readonly string[] };

const detail = Buffer.from(JSON.stringify({ detail: "Too many requests: see Retry-After." }));

/**
 * Answers 429 with `Retry-After` (seconds) and the fields `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-10:
 * `q` requests in a window of `w` seconds, of which `r` are left, for `t` seconds.
 */
export const openRefusals = (
  { rate, burst }: BucketSize,
  writeError: WriteError,
  { corsOrigins, prefixes }: RefusalSettings,
) => {
  const policy = `"caller";q=${burst};w=${Math.ceil(burst / rate)}`;
  return (request: IncomingMessage, response: ServerResponse, wait: number): void => {
    const seconds = String(Math.max(1, Math.ceil(wait / 1000)));
    const { url: target = "/", headers: sent } = request;
    const { type, body, vary } = writeError({ target, accept: sent.accept }, 429, detail);
    const headers = [
      ...unstoredHeaders(type, body.length),
      ...vary,
      "Retry-After",
      seconds,
      "RateLimit-Policy",
      policy,
      "RateLimit",
      `"caller";r=0;t=${seconds}`,
      ...(isBelowAny(pathOf(target), prefixes) ? corsList(corsOrigins, sent.origin) : legacyCorsList),
    ];
    sendWhole(response, { status: 429, headers, body: request.method === "HEAD" ? undefined : body });
  };
};
