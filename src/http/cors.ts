/** The CORS headers of an answer, flat: everybody may read it, or the origins listed. */
export const corsList = (origins: readonly string[], origin: string | undefined): readonly string[] => {
  if (origins.includes("*")) return everybody;
  return origin !== undefined && origins.includes(origin)
    ? ["Access-Control-Allow-Origin", origin, "Vary", "Origin"]
    : nobody;
};

// The same lists each time: what is rendered with them can be kept.
const everybody = ["Access-Control-Allow-Origin", "*"];
const nobody = ["Vary", "Origin"];

/** What a preflight is told beside: browsers may keep it for a day. */
export const preflightHeaders = (methods: string): Record<string, string> => ({
  Allow: methods,
  "Access-Control-Allow-Methods": methods,
  "Access-Control-Allow-Headers": "Authorization, Cache-Control, Content-Type, If-None-Match, X-API-Key",
  "Access-Control-Max-Age": "86400",
});
