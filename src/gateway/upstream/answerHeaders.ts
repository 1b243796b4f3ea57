import type { IncomingHttpHeaders } from "node:http";

/**
 * The value of a header of an upstream's answer, the first one where it came more than once: undici gives a list then.
 */
export const firstValue = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** The media type of an answer; empty where it has none. */
export const mediaType = (headers: IncomingHttpHeaders): string => firstValue(headers, "content-type") ?? "";

/** Headers that say to a client what it may do next. */
const ADVICE = ["Retry-After", "WWW-Authenticate", "Allow"];

/** Those of an answer's headers that say to its client what it may do next, by their names. */
export const adviceIn = (headers: IncomingHttpHeaders): Record<string, string> => {
  const advice: Record<string, string> = {};
  for (const name of ADVICE) {
    const value = headers[name.toLowerCase()];
    if (value !== undefined) advice[name] = [...new Set([value].flat())].join(", ");
  }
  return advice;
};

/**
 * The coding of an answer's body in small letters, empty where it has none. Several make one that nothing can decode.
 */
export const contentCoding = (headers: IncomingHttpHeaders): string => {
  const sent = headers["content-encoding"];
  if (sent === undefined) return "";
  const codings = [sent].flat().map((coding) => coding.trim().toLowerCase());
  return [...new Set(codings)].filter((coding) => coding !== "" && coding !== "identity").join(", ");
};
