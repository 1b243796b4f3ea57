import type { DifferenceKind } from "../../src/compare/difference.ts";
import type { Fault } from "./fault.ts";

/** How a comparer should classify a fault: as a difference, as allowed by a rule, or as gone when it is checked again. */
export type SeenAs = "difference" | "allowed" | "drift";

/** `path` as the comparer writes it: list indices as `*`, or `status`, `content-type`. */
export type Seen = { path: string; form: DifferenceKind; as: SeenAs };

/** There is no answer to compare, or it comes too late. */
type NoDocument = { as: "noDocument" };

/** One difference between the given and the right answer, and the number of answers that have it. */
export type Planted = {
  endpoint: string;
  /** Those that make it: mostly one, and of those without a document always one. */
  faults: Fault["fault"][];
  /** Distinct ones. */
  questions: number;
  answers: number;
} & (Seen | NoDocument);

/** The changes of one fault in one answer. */
type Done = { fault: Fault["fault"]; seen: Seen | NoDocument };

export type Plantings = {
  /** Records the changes in one answer. `question`, its identity, is absent if no request arrived. */
  add: (endpoint: string, question: string | undefined, done: readonly Done[]) => void;
  all: () => Planted[];
};

export const openPlantings = (): Plantings => {
  const known = new Map<string, { planted: Planted; questions: Set<string> }>();
  const planting = (endpoint: string, { fault, seen }: Done) => {
    const key = JSON.stringify([endpoint, seen.as, "path" in seen ? [seen.path, seen.form] : fault]);
    const one = known.get(key) ?? {
      planted: { endpoint, faults: [], ...seen, questions: 0, answers: 0 },
      questions: new Set<string>(),
    };
    known.set(key, one);
    if (!one.planted.faults.includes(fault)) one.planted.faults.push(fault);
    return one;
  };
  return {
    add(endpoint, question, done) {
      for (const { planted, questions } of new Set(done.map((one) => planting(endpoint, one)))) {
        if (question !== undefined) questions.add(question);
        planted.questions = questions.size;
        planted.answers++;
      }
    },
    all: () => [...known.values()].map(({ planted }) => ({ ...planted, faults: [...planted.faults] })),
  };
};
