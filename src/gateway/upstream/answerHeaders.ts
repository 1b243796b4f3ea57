import type { IncomingHttpHeaders } from "node:http";

/**
 * The value of a header of an upstream's answer; the first value if the header came twice, since undici gives a list.
 */
export const firstValue = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** The value of an answer's `Content-Type`; empty if it has none. */
export const mediaType = (headers: IncomingHttpHeaders): string => firstValue(headers, "content-type") ?? "";

/** Headers that tell a client what it may do next. */
const ADVICE = ["Retry-After", "WWW-Authenticate", "Allow"];

/** The headers of an answer that tell its client what it may do next, by their names. */
export const adviceIn = (headers: IncomingHttpHeaders): Record<string, string> => {
  const advice: Record<string, string> = {};
  for (const name of ADVICE) {
    const value = headers[name.toLowerCase()];
    if (value !== undefined) advice[name] = [...new Set([value].flat())].join(", ");
  }
  return advice;
};

/**
 * The coding of an answer's body in lower case, empty if it has none. Several codings are joined: no decoder has them.
 */
export const contentCoding = (headers: IncomingHttpHeaders): string => {
  const sent = headers["content-encoding"];
  if (sent === undefined) return "";
  const codings = [sent].flat().map((coding) => coding.trim().toLowerCase());
  return [...new Set(codings)].filter((coding) => coding !== "" && coding !== "identity").join(", ");
};
