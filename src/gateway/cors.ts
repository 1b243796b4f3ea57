/** The CORS headers of an answer: everybody may read it, or the origins listed. */
export const corsHeaders = (origins: readonly string[], origin: string | undefined): Record<string, string> => {
  if (origins.includes("*")) return { "Access-Control-Allow-Origin": "*" };
  const allowed = origin !== undefined && origins.includes(origin);
  return allowed ? { "Access-Control-Allow-Origin": origin, Vary: "Origin" } : { Vary: "Origin" };
};

/** What a preflight is told beside: browsers may keep it for a day. */
export const preflightHeaders = (methods: string): Record<string, string> => ({
  Allow: methods,
  "Access-Control-Allow-Methods": methods,
  "Access-Control-Allow-Headers": "Authorization, Content-Type, X-API-Key",
  "Access-Control-Max-Age": "86400",
});
