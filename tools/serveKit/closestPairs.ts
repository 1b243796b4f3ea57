import { editDistance } from "../../src/operation/settings/editDistance.ts";

/**
 * A request of either interface that a pair of fixtures answers. `target` has no key; `key` is a key of the sample
 * legacy.
 */
export type FixtureRequest = { pair: string; method: string; target: string; body?: string; key?: string };

/** The most characters of a request that are compared. */
const MAX_COMPARED = 200;

/** A target without its key: a known target has no key. */
const withoutKey = (target: string): string => target.replace(/(?<=[?&])api_key=[^&]*&?/g, "").replace(/[?&]$/, "");

/** The number of characters by which a request differs from a known request; another method or body counts as a few. */
const distance = (request: Omit<FixtureRequest, "pair">, known: FixtureRequest): number =>
  editDistance(withoutKey(request.target).slice(0, MAX_COMPARED), known.target.slice(0, MAX_COMPARED)) +
  (request.method === known.method ? 0 : 4) +
  ((request.body ?? "") === (known.body ?? "") ? 0 : 2);

/** The known requests that are most like this request: at most `most`, the closest first, without repetitions. */
export const closestPairs = (
  request: Omit<FixtureRequest, "pair">,
  known: readonly FixtureRequest[],
  most: number,
): FixtureRequest[] => {
  const alike = Map.groupBy(known, ({ method, target, body = "", key = "" }) => `${method} ${target} ${body} ${key}`);
  return [...alike.values()]
    .flatMap(([first]) => first ?? [])
    .map((candidate) => ({ candidate, away: distance(request, candidate) }))
    .toSorted((a, b) => a.away - b.away)
    .slice(0, most)
    .map(({ candidate }) => candidate);
};
