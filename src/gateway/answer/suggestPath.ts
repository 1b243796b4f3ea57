import { editDistance } from "../../operation/index.ts";
import type { Pattern } from "./prepared.ts";

/** The longest path for which a path is suggested, in characters. */
const MAX_PATH = 200;
/** The number of letters in which a path may differ from a path of ours: in all, and as a share of a segment. */
const MAX_EDITS = 3;
const MAX_SHARE = 1 / 3;

/** A path that may be suggested. */
export type Candidate = Pick<Pattern, "path" | "pairsBelow">;

/**
 * Finds the path of ours that is most similar to `path`, which may have misspelt segments, another case, or empty
 * segments. Segments that a route names, like ids, stay as they were sent. `undefined`: no path is similar enough.
 * `path` and the result are relative to the prefix.
 */
export const suggestPath = (path: string, candidates: readonly Candidate[]): string | undefined => {
  if (path.length > MAX_PATH) return undefined;
  const segments = path.split("/").filter((segment) => segment !== "");
  const suggestions = candidates
    .map((candidate) => suggestionOf(segments, candidate))
    .filter((suggestion) => suggestion !== undefined)
    .toSorted((a, b) => a.edits - b.edits);
  return suggestions[0]?.path;
};

const suggestionOf = (
  segments: readonly string[],
  { path, pairsBelow }: Candidate,
): { path: string; edits: number } | undefined => {
  const wanted = (pairsBelow ?? path).replaceAll("{[^/]*}", "").split("/").slice(1);
  // The filters of a list are pairs of segments below its path.
  const rest = pairsBelow === undefined ? [] : segments.slice(wanted.length);
  if (segments.length - rest.length !== wanted.length || rest.length % 2 === 1) return undefined;
  let edits = 0;
  const suggested: string[] = [];
  for (const [i, segment] of wanted.entries()) {
    const sent = segments[i] as string;
    const isNamed = segment.startsWith(":");
    const distance = isNamed ? 0 : editDistance(sent.toLowerCase(), segment.toLowerCase());
    edits += distance;
    if (distance > segment.length * MAX_SHARE || edits > MAX_EDITS) return undefined;
    suggested.push(isNamed ? sent : segment);
  }
  return { path: `/${[...suggested, ...rest].join("/")}`, edits };
};
