import { causeOf, type Classification, type Difference } from "../../compare/difference.ts";
import { openDifferenceGroups } from "../../compare/differenceGroups.ts";
import type { CurlPair } from "../../compare/curls.ts";
import { openSecrets, type Secrets } from "../../scrub/secrets.ts";
import type { DifferenceView } from "./views.ts";

/** One compared request and what differs. `at`: ISO 8601. */
export type ComparedAnswer = {
  endpoint: string;
  question: string;
  at: string;
  differences: readonly Difference[];
  curl: (secrets: Secrets) => CurlPair;
  key?: string | undefined;
};

const MAX_SAMPLES = 5;
const MAX_PER_ENDPOINT = 500;
/** Characters of all samples together. */
const MAX_SAMPLE_CHARS = 8 * 1024 ** 2;

/**
 * Opens an empty collection of the differences of live traffic: counted by endpoint, path and kind, with a few samples each. `onNew` is called with
 * each group before its first sample.
 */
export const openDifferences = (onNew: (difference: DifferenceView) => void = () => undefined) => {
  const secrets = openSecrets();
  const groups = openDifferenceGroups<DifferenceView>(MAX_PER_ENDPOINT);
  let sampleChars = 0;

  /** Stores the answer as a sample, with the same chance for every answer (reservoir sampling). */
  const sample = (
    group: DifferenceView,
    { question, at, curl, key }: ComparedAnswer,
    { legacy, expected, candidate }: Difference,
  ) => {
    const place = group.samples.length < MAX_SAMPLES ? group.samples.length : Math.floor(Math.random() * group.answers);
    if (place >= MAX_SAMPLES) return;
    const caller = secrets.ofCaller(key);
    const values = Object.entries({ legacy, expected, candidate }).filter(([, value]) => value !== undefined);
    const redacted: DifferenceView["samples"][number] = {
      at,
      question: caller.text(question),
      ...Object.fromEntries(values.map(([side, value]) => [side, caller.json(value)])),
      curl: curl(caller),
    };
    const replaced = group.samples[place];
    const growth = JSON.stringify(redacted).length - (replaced ? JSON.stringify(replaced).length : 0);
    if (sampleChars + growth > MAX_SAMPLE_CHARS) return;
    sampleChars += growth;
    group.samples[place] = redacted;
  };

  return {
    add(answer: ComparedAnswer): void {
      const { endpoint } = answer;
      for (const difference of answer.differences) {
        const group = groups.add(endpoint, difference, (one) => {
          const made: DifferenceView = {
            endpoint,
            path: one.path,
            kind: one.kind,
            form: one.form,
            ...(one.rule === undefined ? {} : { rule: one.rule }),
            ...(one.entry === undefined ? {} : { entry: one.entry }),
            cause: causeOf(one),
            count: 0,
            answers: 0,
            samples: [],
          };
          onNew(made);
          return made;
        });
        sample(group, answer, difference);
      }
    },
    /** The differences of one kind; the causes behind most answers come first. */
    view(kind: Classification): DifferenceView[] {
      const shown = groups.all().filter((group) => group.kind === kind);
      return shown.toSorted(byCause(shown));
    },
    /** Removes the differences that match, such as those that are expected from now on. */
    remove(wanted: (difference: DifferenceView) => boolean): void {
      for (const { samples } of groups.remove(wanted))
        for (const one of samples) sampleChars -= JSON.stringify(one).length;
    },
  };
};

/** The causes behind most answers first, and within a cause the paths. */
const byCause = (groups: readonly DifferenceView[]) => {
  const weight = new Map<string, number>();
  for (const { cause, answers } of groups) weight.set(cause, (weight.get(cause) ?? 0) + answers);
  const of = ({ cause }: DifferenceView) => weight.get(cause) ?? 0;
  return (a: DifferenceView, b: DifferenceView) =>
    of(b) - of(a) || a.cause.localeCompare(b.cause) || b.answers - a.answers;
};
