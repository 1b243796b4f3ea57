import { headerPlace } from "./requestTarget.ts";

/** The headers that the script of a page may read, besides those that it may always read by the Fetch standard. */
export const EXPOSED_HEADERS =
  "Age, Allow, Cache-Group-Invalidation, Cache-Groups, Cache-Status, Deprecation, ETag, Gateway-Decision, Link, RateLimit, RateLimit-Policy, " +
  "Retry-After, Server-Timing, Sunset, WWW-Authenticate, X-Request-Id";

/**
 * The CORS headers of an answer to a request from this origin, as flat names and values. `origins`: those that may read
 * the answer; `*` stands for any.
 */
export const corsList = (origins: readonly string[], origin: string | undefined): readonly string[] => {
  if (origins.includes("*")) return anyOrigin;
  return origin !== undefined && origins.includes(origin)
    ? ["Access-Control-Allow-Origin", origin, "Vary", "Origin", ...exposed]
    : noOrigin;
};

// These lists are constant, so that a reply that was rendered with one of them can be used again.
const exposed = ["Access-Control-Expose-Headers", EXPOSED_HEADERS];
const anyOrigin = ["Access-Control-Allow-Origin", "*", ...exposed];
const noOrigin = ["Vary", "Origin"];

/** The headers that a page may send: all headers that the documentation names, and those that legacy allows. */
const ALLOWED_HEADERS =
  "Accept, Authorization, Cache-Control, Content-Type, Gateway-Backend, If-None-Match, Origin, Pragma, " +
  "X-API-Key, X-Request-Id, X-Requested-With, traceparent, tracestate";

/** Additional headers for the answer to a preflight request, which browsers may cache for a day. */
export const preflightHeaders = (methods: string): Record<string, string> => ({
  Allow: methods,
  "Access-Control-Allow-Methods": methods,
  "Access-Control-Allow-Headers": ALLOWED_HEADERS,
  "Access-Control-Max-Age": "86400",
});

/** The exposed headers that the gateway adds to a proxied answer, if legacy lets pages read it. */
const EXPOSED_OF_PROXIED = ["Deprecation", "Link", "Retry-After", "Sunset", "X-Request-Id"];
const exposedOfProxied = ["Access-Control-Expose-Headers", EXPOSED_OF_PROXIED.join(", ")] as const;

/**
 * The CORS headers, flat, of an answer that replaces legacy's. Like legacy's answers, any page may read it. The list
 * also exposes the headers of a cached answer.
 */
export const legacyCorsList: readonly string[] = [
  "Access-Control-Allow-Origin",
  "*",
  "Access-Control-Expose-Headers",
  ["Age", "Cache-Status", "ETag", ...EXPOSED_OF_PROXIED].join(", "),
];

/**
 * Adds to a flat list of legacy's headers that pages may also read the gateway's headers. If legacy exposes headers
 * itself, the field then lists both. An answer that legacy shows to no other origin stays as it is.
 */
export const exposeProxied = (headers: string[]): void => {
  if (headerPlace(headers, "access-control-allow-origin") === -1) return;
  const at = headerPlace(headers, "access-control-expose-headers");
  if (at === -1) return void headers.push(...exposedOfProxied);
  const theirs = headers[at + 1] as string;
  const known = new Set(theirs.split(",").map((name) => name.trim().toLowerCase()));
  const missing = EXPOSED_OF_PROXIED.filter((name) => !known.has(name.toLowerCase()));
  if (missing.length > 0) headers[at + 1] = [theirs.trim(), ...missing].filter(Boolean).join(", ");
};
