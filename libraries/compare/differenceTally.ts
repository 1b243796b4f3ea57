import { AnswerSet } from "./answerSet.ts";
import {
  causeOf,
  type Classification,
  type Difference,
  type DifferenceKind,
  differenceKey,
  OTHER_PATHS,
} from "./difference.ts";

/** The differences of the same kind and cause at the same path of an endpoint. */
export type DifferenceGroup<Sample> = DifferenceKind & {
  endpoint: string;
  /** The answers that show it. */
  answers: AnswerSet;
  /** The number of fields that differ in this way, in all answers. */
  fields: number;
  /** The caller adds to them. */
  samples: Sample[];
};

/** A difference of an answer, and its group. `isNew`: the group had not seen the answer. */
type CountedDifference<Sample> = { difference: Difference; group: DifferenceGroup<Sample>; isNew: boolean };

/** A cause, as `causeOf` names it. `answers`: the number of those that show it, at any path. */
type CountedCause<Sample> = { kind: Classification; name: string; answers: number; groups: DifferenceGroup<Sample>[] };

/**
 * Counts differences by path and by cause, each answer once. `max`: the groups of an endpoint, since a candidate may
 * invent paths; further differences of the same kind and cause share the path `(other paths)`.
 */
export class DifferenceTally<Sample> {
  readonly #max: number;
  readonly #groups = new Map<string, DifferenceGroup<Sample>>();
  readonly #groupsOf = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts the differences of an answer. `answer`: its number among those of the endpoint, from 0. */
  add(endpoint: string, answer: number, differences: readonly Difference[]): CountedDifference<Sample>[] {
    return differences.map((difference) => {
      const group = this.#groupFor(endpoint, difference);
      group.fields += difference.count;
      return { difference, group, isNew: group.answers.add(answer) };
    });
  }

  #groupFor(endpoint: string, difference: Difference): DifferenceGroup<Sample> {
    const key = `${endpoint} ${differenceKey(difference)}`;
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const count = this.#groupsOf.get(endpoint) ?? 0;
    if (count >= this.#max && difference.path !== OTHER_PATHS)
      return this.#groupFor(endpoint, { ...difference, path: OTHER_PATHS });
    const { at: _at, count: _count, legacy: _legacy, expected: _expected, candidate: _candidate, ...kind } = difference;
    const group = { endpoint, ...kind, answers: new AnswerSet(), fields: 0, samples: [] };
    this.#groups.set(key, group);
    this.#groupsOf.set(endpoint, count + 1);
    return group;
  }

  /** All groups, in the order of their first answers. */
  groups(): DifferenceGroup<Sample>[] {
    return [...this.#groups.values()];
  }

  /** The causes of the differences of one kind, or of all, in the order of their first answers. */
  causes(kind?: Classification): CountedCause<Sample>[] {
    const groups = this.groups().filter((group) => kind === undefined || group.kind === kind);
    const byCause = Map.groupBy(groups, (group) => `${group.kind} ${causeOf(group)}`);
    return [...byCause.values()].map((alike) => {
      const [first] = alike as [DifferenceGroup<Sample>];
      return { kind: first.kind, name: causeOf(first), answers: answersOf(alike), groups: alike };
    });
  }

  /** Removes groups, and returns them. */
  remove(wanted: (group: DifferenceGroup<Sample>) => boolean): DifferenceGroup<Sample>[] {
    const removed: DifferenceGroup<Sample>[] = [];
    for (const [key, group] of this.#groups) {
      if (!wanted(group)) continue;
      this.#groups.delete(key);
      this.#groupsOf.set(group.endpoint, (this.#groupsOf.get(group.endpoint) ?? 1) - 1);
      removed.push(group);
    }
    return removed;
  }

  /** Forgets an answer, so that its number can be used again. Returns the groups that no other answer shows. */
  forget(endpoint: string, answer: number): DifferenceGroup<Sample>[] {
    return this.remove(
      (group) => group.endpoint === endpoint && group.answers.delete(answer) && group.answers.size === 0,
    );
  }
}

/** The answers that any of these groups has seen. The numbers of different endpoints are of different answers. */
const answersOf = (groups: readonly DifferenceGroup<unknown>[]): number =>
  [...Map.groupBy(groups, ({ endpoint }) => endpoint).values()].reduce(
    (sum, alike) => sum + AnswerSet.sizeOfUnion(alike.map(({ answers }) => answers)),
    0,
  );
