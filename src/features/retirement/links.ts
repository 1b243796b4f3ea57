import type { Deprecation } from "./schemas.ts";

/** The values of a path's Link header: where its end is documented (RFC 9745, RFC 8594), and its successor (RFC 5829). */
export const links = ({ link, successor, sunset }: Omit<Deprecation, "path" | "since">): string[] => [
  ...(link === undefined ? [] : [deprecationLink(link)]),
  ...(link === undefined || sunset === undefined ? [] : [`<${link}>; rel="sunset"; type="text/html"`]),
  ...(successor === undefined ? [] : [`<${successor}>; rel="successor-version"`]),
];

/** A Link value for the page that documents the deprecation (RFC 9745). */
export const deprecationLink = (link: string): string => `<${link}>; rel="deprecation"; type="text/html"`;
