import type { Endpoint } from "../../endpoint/endpoint.ts";
import { type LegacyPattern, legacyPatterns } from "./legacyPatterns.ts";
import { type Routed, routeTable } from "./routeTable.ts";

/** What is known of both interfaces' paths. */
export type TrafficMapper = {
  /** Where the new interface is served, the longest first, none with a slash at its end. */
  prefixes: readonly string[];
  /** Where the legacy one is: `/api/v1/json`. */
  legacy: readonly string[];
  routed: (path: string) => Routed | undefined;
  patterns: readonly LegacyPattern[];
};

export const trafficMapper = (
  endpoints: Record<string, Endpoint>,
  { prefixes = ["/v1"], legacyPath = "/api/v1" }: { prefixes?: readonly string[]; legacyPath?: string } = {},
): TrafficMapper => {
  const named = Object.entries(endpoints).map(([name, endpoint]) => ({ ...endpoint, name }));
  return {
    prefixes: prefixes.map((prefix) => prefix.replace(/\/+$/, "")).toSorted((a, b) => b.length - a.length),
    legacy: ["json", "xml"].map((form) => `${legacyPath.replace(/\/+$/, "")}/${form}`),
    routed: routeTable(named),
    patterns: named.flatMap(legacyPatterns),
  };
};
