import type { Reason } from "../network/connectionCause.ts";
import type { Meter } from "./meter.ts";

/**
 * The last known state of a server that the gateway uses. `since`: ISO 8601, when this state began. `why`: the failure;
 * `details`: the same in words by which an operator can act.
 */
export type DependencyState = Partial<Reason> & { name: string; state: "ok" | "failed"; since: string };

/**
 * The text for operators while a dependency fails: `trouble` before the time, `effect` after it (`Redis has been
 * failing` since 15:50, `stages cannot be moved`). Dependencies that fail alike have the same `trouble`. `isUsed`: true
 * if it serves callers now (default).
 */
type FailureMeaning = { trouble: string; effect: string; isUsed?: boolean };

type FailedDependency = DependencyState & FailureMeaning;

/** The dependencies of the gateway, for `/readyz?verbose` and the metrics. */
export type Dependencies = ReturnType<typeof openDependencies>;

/** Opens an empty list of dependencies. */
export const openDependencies = (meter: Pick<Meter, "gauge">) => {
  const states = new Map<string, DependencyState>();
  const meanings = new Map<string, FailureMeaning | (() => FailureMeaning)>();
  const listeners: (() => void)[] = [];
  const meaningOf = (name: string): FailureMeaning | undefined => {
    const meaning = meanings.get(name);
    return typeof meaning === "function" ? meaning() : meaning;
  };
  const isUsed = (name: string): boolean => meaningOf(name)?.isUsed ?? true;
  meter.gauge("dependency_up", "Whether a dependency works, as it was seen last: 1 or 0.", () =>
    [...states.values()].map(({ name, state }) => ({ labels: { dependency: name }, value: state === "ok" ? 1 : 0 })),
  );
  return {
    /** Adds a dependency, which is ok until a failure is reported, with its `Reason`. A meaning may change. */
    add(name: string, meaning: FailureMeaning | (() => FailureMeaning)) {
      meanings.set(name, meaning);
      states.set(name, { name, state: "ok", since: new Date().toISOString() });
      return (isOk: boolean, why?: string, details?: string): void => {
        const state = isOk ? "ok" : "failed";
        const known = states.get(name);
        // Every answer of legacy comes here: only a change costs something.
        if (known?.state === state && known.why === why && known.details === details) return;
        const since = known?.state === state ? known.since : new Date().toISOString();
        const reason = { ...(why !== undefined && { why }), ...(details !== undefined && { details }) };
        states.set(name, { name, state, since, ...reason });
        for (const listener of listeners) listener();
      };
    },
    /** Calls this whenever the state of a dependency, or the reason of its failure, has changed. */
    onChange: (listener: () => void): void => void listeners.push(listener),
    /** All dependencies, in the order in which they were added. */
    states: (): DependencyState[] => [...states.values()],
    isUsed,
    /** The dependencies that fail now and are used, in the same order. */
    failed: (): FailedDependency[] =>
      [...states.values()].flatMap((dependency) => {
        const meaning = dependency.state === "failed" ? meaningOf(dependency.name) : undefined;
        return meaning === undefined || meaning.isUsed === false ? [] : [{ ...dependency, ...meaning }];
      }),
  };
};
