import type { Deprecation } from "./settings.ts";

/** A flat list for `writeHead`: `Deprecation` (RFC 9745) since when, `Sunset` (RFC 8594) until when, and `Link`. */
export const deprecationHeaders = ({ since, sunset, link, successor }: Deprecation): readonly string[] => {
  const links = [
    ...(link === undefined ? [] : [deprecationLink(link)]),
    ...(link === undefined || sunset === undefined ? [] : [`<${link}>; rel="sunset"; type="text/html"`]),
    // RFC 5829
    ...(successor === undefined ? [] : [`<${successor}>; rel="successor-version"`]),
  ];
  return [
    "Deprecation",
    `@${Math.floor(Date.parse(since) / 1000)}`,
    ...(sunset === undefined ? [] : ["Sunset", new Date(sunset).toUTCString()]),
    ...(links.length === 0 ? [] : ["Link", links.join(", ")]),
  ];
};

/** A value of `Link` for the page that documents the deprecation (RFC 9745). */
export const deprecationLink = (link: string): string => `<${link}>; rel="deprecation"; type="text/html"`;
