import type { Deprecation } from "./schemas.ts";

/** What a path's Link header says: where to read about its end (RFC 9745, RFC 8594), and what comes after it (RFC 5829). */
export const links = ({ link, successor, sunset }: Omit<Deprecation, "path" | "since">): string[] => [
  ...(link === undefined ? [] : [deprecationLink(link)]),
  ...(link === undefined || sunset === undefined ? [] : [`<${link}>; rel="sunset"; type="text/html"`]),
  ...(successor === undefined ? [] : [`<${successor}>; rel="successor-version"`]),
];

export const deprecationLink = (link: string): string => `<${link}>; rel="deprecation"; type="text/html"`;
