import { type Difference, resultOf } from "./difference.ts";

/**
 * Compares two answers. If they differ without a reason, it compares two new answers, past all caches (`again`): an
 * unexplained difference that only one of the comparisons shows is drift. `settle` waits between the two. An outcome
 * without `differences` says that the answers could not be compared.
 */
export const compareTwice = async <Outcome extends { differences?: Difference[] }>(
  compare: (again: boolean) => Promise<Outcome>,
  settle: () => Promise<unknown>,
): Promise<Outcome> => {
  const first = await compare(false);
  if (first.differences === undefined || resultOf(first.differences) !== "unexplained") return first;
  await settle();
  const second = await compare(true);
  return second.differences === undefined
    ? second
    : { ...second, differences: markDrift(first.differences, second.differences) };
};

/** Joins two comparisons of the same request: an unexplained difference that only one of them shows is drift. */
const markDrift = (before: readonly Difference[], after: readonly Difference[]): Difference[] => {
  const nameOf = ({ form, path }: Difference) => `${form} ${path}`;
  const once = (these: readonly Difference[], others: readonly Difference[]) => {
    const names = new Set(others.map(nameOf));
    return these.filter((difference) => difference.kind === "unexplained" && !names.has(nameOf(difference)));
  };
  const drift = new Set([...once(before, after), ...once(after, before)]);
  return [...after, ...before.filter((difference) => drift.has(difference))].map((difference) =>
    drift.has(difference) ? { ...difference, kind: "drift" } : difference,
  );
};
