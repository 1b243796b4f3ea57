import type { LegacyPaths } from "../endpoint/legacyInterface.ts";
import { pathOf, queryOf } from "../endpoint/target.ts";

/** A request to legacy's interface: its path below `LEGACY_PATH`, and the query that legacy reads. */
export type LegacyTarget = {
  /** `/api/v1/json/data/61`: always below `LEGACY_PATH`, with its escapes, without doubled or trailing slashes. */
  path: string;
  /** The segments after `LEGACY_PATH`. */
  segments: readonly string[];
  query: string;
};

/** The segments of a target after its format, if it names a format. */
export const withoutFormat = ({ segments }: Pick<LegacyTarget, "segments">): readonly string[] =>
  segments[0] === "json" || segments[0] === "xml" ? segments.slice(1) : segments;

/** Reads a request target (origin form); `undefined`: it is not for legacy's interface. */
export type ReadLegacyTarget = (target: string) => LegacyTarget | undefined;

/**
 * Leaves out the segments that legacy ignores: an empty segment, and a segment that leads upwards (CodeIgniter 3,
 * `_remove_relative_directory`).
 */
const namedSegments = (path: string): string[] => path.split("/").filter(isNamed);
const isNamed = (segment: string): boolean => segment !== "" && segment !== "..";

const isBelow = (path: readonly string[], beginning: readonly string[]): boolean => {
  for (let i = 0; i < beginning.length; i++) if (path[i] !== beginning[i]) return false;
  return true;
};

/**
 * Reads targets as legacy does (CodeIgniter 3, `_parse_request_uri`): it removes the name of its script, reads a path
 * that is then empty from the query, and compares segments undecoded and case-sensitively. If `LEGACY_PATH` does not
 * end like one of the paths of legacy itself, no other path leads there.
 */
export const legacyTargets = (legacyPath: string, { interfaces, frontController }: LegacyPaths): ReadLegacyTarget => {
  const prefix = legacyPath === "/" ? "" : legacyPath;
  const known = interfaces.find((path) => prefix.endsWith(path));
  const base = known === undefined ? undefined : prefix.slice(0, -known.length);
  const beginnings = known === undefined ? [namedSegments(prefix)] : interfaces.map(namedSegments);

  const located = (target: string): { path: string; query: string } | undefined => {
    const path = pathOf(target);
    const query = queryOf(target);
    if (base === undefined) return { path, query };
    if (!path.startsWith(base)) return undefined;
    const script = base + frontController;
    const rest = path.slice(path.startsWith(script) ? script.length : base.length);
    if (!query.startsWith("/") || !/^\/*$/.test(rest)) return { path: rest, query };
    const end = query.indexOf("?");
    return end === -1 ? { path: query, query: "" } : { path: query.slice(0, end), query: query.slice(end + 1) };
  };

  return (target) => {
    const below = located(target);
    if (below === undefined) return undefined;
    const all = namedSegments(below.path);
    const beginning = beginnings.find((segments) => isBelow(all, segments));
    if (beginning === undefined) return undefined;
    const segments = all.slice(beginning.length);
    const path = segments.length === 0 ? prefix || "/" : `${prefix}/${segments.join("/")}`;
    return { path, segments, query: below.query };
  };
};
