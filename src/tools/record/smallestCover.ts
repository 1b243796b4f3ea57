/** One of many, and the variants that it has. */
export type CoverCandidate<Id> = { id: Id; variants: ReadonlySet<string> };

/**
 * The ids of few candidates that together have all variants. Greedy: it takes the candidate that adds most (the earlier of two equal
 * ones), and in the end removes those that later ones made needless. At most 1 + ln(variants) times the smallest number.
 */
export const smallestCover = <Id>(candidates: readonly CoverCandidate<Id>[]): Id[] => {
  const covered = new Set<string>();
  const gainOf = ({ variants }: CoverCandidate<Id>) => [...variants].filter((variant) => !covered.has(variant)).length;
  // What a candidate adds only shrinks. An old count is therefore a bound, and few are counted again.
  const waiting = candidates.map((candidate, order) => ({ candidate, order, bound: candidate.variants.size }));
  const first = (a: (typeof waiting)[number], b: (typeof waiting)[number]) => b.bound - a.bound || a.order - b.order;
  waiting.sort(first);
  const chosen: CoverCandidate<Id>[] = [];
  for (let best = waiting.shift(); best !== undefined && best.bound > 0; best = waiting.shift()) {
    const gain = gainOf(best.candidate);
    if (gain === best.bound) {
      chosen.push(best.candidate);
      for (const variant of best.candidate.variants) covered.add(variant);
    } else if (gain > 0) {
      const again = { ...best, bound: gain };
      const place = waiting.findIndex((other) => first(again, other) < 0);
      waiting.splice(place < 0 ? waiting.length : place, 0, again);
    }
  }
  return withoutNeedless(chosen).map(({ id }) => id);
};

const withoutNeedless = <Id>(chosen: readonly CoverCandidate<Id>[]): CoverCandidate<Id>[] => {
  const times = new Map<string, number>();
  const count = ({ variants }: CoverCandidate<Id>, by: number) => {
    for (const variant of variants) times.set(variant, (times.get(variant) ?? 0) + by);
  };
  for (const candidate of chosen) count(candidate, 1);
  return chosen.filter((candidate) => {
    const isNeedless = [...candidate.variants].every((variant) => (times.get(variant) ?? 0) > 1);
    if (isNeedless) count(candidate, -1);
    return !isNeedless;
  });
};
