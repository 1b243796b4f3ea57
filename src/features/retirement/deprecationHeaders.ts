import { links } from "./links.ts";
import type { Deprecation } from "./schemas.ts";

/** A flat list for `writeHead`: `Deprecation` (RFC 9745) since when, `Sunset` (RFC 8594) until when, and `Link`. */
export const deprecationHeaders = (deprecation: Deprecation): readonly string[] => {
  const { since, sunset } = deprecation;
  const linked = links(deprecation);
  return [
    "Deprecation",
    `@${Math.floor(Date.parse(since) / 1000)}`,
    ...(sunset === undefined ? [] : ["Sunset", new Date(sunset).toUTCString()]),
    ...(linked.length === 0 ? [] : ["Link", linked.join(", ")]),
  ];
};
