import type { DependencyState } from "../telemetry/dependencies.ts";

/** Failed comes before ok. Of two failures the first to begin counts, of two recoveries the last. */
const worse = (one: DependencyState, other: DependencyState): DependencyState => {
  if (one.state !== other.state) return one.state === "failed" ? one : other;
  return one.since < other.since === (one.state === "failed") ? one : other;
};

/** The dependencies of several processes as one list: each in the worst state that any process has seen. */
export const combineDependencies = (processes: readonly (readonly DependencyState[])[]): DependencyState[] => {
  const worst = new Map<string, DependencyState>();
  for (const one of processes.flat()) {
    const known = worst.get(one.name);
    worst.set(one.name, known ? worse(known, one) : one);
  }
  return [...worst.values()];
};
