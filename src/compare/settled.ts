import type { Difference } from "./difference.ts";

/** What nobody explains counts where both times show it; what only one of them shows is drift. */
export const settleDifferences = (before: readonly Difference[], after: readonly Difference[]): Difference[] => {
  const isAlike = (a: Difference, b: Difference) => a.path === b.path && a.form === b.form;
  const once = (these: readonly Difference[], others: readonly Difference[]) =>
    these.filter((one) => one.kind === "unexplained" && !others.some((other) => isAlike(one, other)));
  const drift = new Set([...once(before, after), ...once(after, before)]);
  return [...after, ...before.filter((one) => drift.has(one))].map((one) =>
    drift.has(one) ? { ...one, kind: "drift" } : one,
  );
};
