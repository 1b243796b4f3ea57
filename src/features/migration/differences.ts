import { causeOf } from "../../compare/causes.ts";
import { type Difference, type Kind, sameness } from "../../compare/difference.ts";
import type { CurlPair } from "../../compare/report.ts";
import { openSecrets, type Secrets } from "../../scrub/secrets.ts";
import type { DifferenceView } from "./views.ts";

/** One question that showed differences. */
export type Seen = {
  endpoint: string;
  question: string;
  at: string;
  differences: readonly Difference[];
  curl: (secrets: Secrets) => CurlPair;
  key?: string | undefined;
};

/** The differences of live traffic: counted by endpoint, path and kind, with a few samples each. */
export type Differences = {
  add(seen: Seen): void;
  /** Of one kind, those behind most answers first. */
  view(kind: Kind): DifferenceView[];
  /** What is expected from now on is not unexplained any more. */
  forget(wanted: (difference: DifferenceView) => boolean): void;
};

const SAMPLES = 5;
const MOST_PER_ENDPOINT = 500;
/** Characters of all samples together. */
const MOST_SAMPLED = 8 * 1024 ** 2;

export const openDifferences = (random: () => number = Math.random, secrets: Secrets = openSecrets()): Differences => {
  const groups = new Map<string, DifferenceView>();
  const perEndpoint = new Map<string, number>();
  let sampled = 0;

  const groupOf = (endpoint: string, difference: Difference): DifferenceView => {
    const known = groups.get(`${endpoint} ${sameness(difference)}`);
    if (known) return known;
    const count = perEndpoint.get(endpoint) ?? 0;
    // Paths are modern's to invent.
    const told =
      count < MOST_PER_ENDPOINT
        ? difference
        : { ...difference, path: "(other paths)", rule: undefined, entry: undefined };
    const key = `${endpoint} ${sameness(told)}`;
    const made: DifferenceView = groups.get(key) ?? {
      endpoint,
      path: told.path,
      kind: told.kind,
      form: told.form,
      ...(told.rule === undefined ? {} : { rule: told.rule }),
      ...(told.entry === undefined ? {} : { entry: told.entry }),
      cause: causeOf(told),
      count: 0,
      answers: 0,
      samples: [],
    };
    if (!groups.has(key)) perEndpoint.set(endpoint, count + 1);
    groups.set(key, made);
    return made;
  };

  /** Every answer has the same chance to be among the samples (reservoir sampling). */
  const sample = (
    group: DifferenceView,
    { question, at, curl, key }: Seen,
    { legacy, expected, candidate }: Difference,
  ) => {
    const place = group.samples.length < SAMPLES ? group.samples.length : Math.floor(random() * group.answers);
    if (place >= SAMPLES) return;
    const caller = secrets.ofCaller(key);
    const values = Object.entries({ legacy, expected, candidate }).filter(([, value]) => value !== undefined);
    const scrubbed: DifferenceView["samples"][number] = {
      at,
      question: caller.text(question),
      ...Object.fromEntries(values.map(([side, value]) => [side, caller.json(value)])),
      curl: curl(caller),
    };
    const [before = 0, after] = [
      group.samples[place] && JSON.stringify(group.samples[place]).length,
      JSON.stringify(scrubbed).length,
    ];
    if (sampled - before + after > MOST_SAMPLED) return;
    sampled += after - before;
    group.samples[place] = scrubbed;
  };

  return {
    add(seen) {
      for (const difference of seen.differences) {
        const group = groupOf(seen.endpoint, difference);
        group.count += difference.count;
        group.answers++;
        sample(group, seen, difference);
      }
    },
    view: (kind) => [...groups.values()].filter((group) => group.kind === kind).toSorted(byCause([...groups.values()])),
    forget(wanted) {
      for (const [key, group] of groups) {
        if (!wanted(group)) continue;
        groups.delete(key);
        perEndpoint.set(group.endpoint, (perEndpoint.get(group.endpoint) ?? 1) - 1);
        for (const one of group.samples) sampled -= JSON.stringify(one).length;
      }
    },
  };
};

/** The causes behind most answers first, and within a cause the paths. */
const byCause = (groups: readonly DifferenceView[]) => {
  const weight = new Map<string, number>();
  for (const { endpoint, cause, answers } of groups) {
    const key = `${endpoint} ${cause}`;
    weight.set(key, (weight.get(key) ?? 0) + answers);
  }
  const of = ({ endpoint, cause }: DifferenceView) => weight.get(`${endpoint} ${cause}`) ?? 0;
  return (a: DifferenceView, b: DifferenceView) =>
    of(b) - of(a) || a.cause.localeCompare(b.cause) || b.answers - a.answers;
};
