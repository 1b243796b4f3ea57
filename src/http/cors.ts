/** The CORS headers of an answer, as flat names and values: any origin may read it (`*`), or those listed. */
export const corsList = (origins: readonly string[], origin: string | undefined): readonly string[] => {
  if (origins.includes("*")) return anyOrigin;
  return origin !== undefined && origins.includes(origin)
    ? ["Access-Control-Allow-Origin", origin, "Vary", "Origin"]
    : noOrigin;
};

// The same lists each time, so that what was rendered with one can be used again.
const anyOrigin = ["Access-Control-Allow-Origin", "*"];
const noOrigin = ["Vary", "Origin"];

/** More headers for the answer to a preflight, which browsers may keep for a day. */
export const preflightHeaders = (methods: string): Record<string, string> => ({
  Allow: methods,
  "Access-Control-Allow-Methods": methods,
  "Access-Control-Allow-Headers": "Authorization, Cache-Control, Content-Type, If-None-Match, X-API-Key",
  "Access-Control-Max-Age": "86400",
});
