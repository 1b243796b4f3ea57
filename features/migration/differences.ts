import { hash } from "node:crypto";
import { causeOf, type Classification, type Difference } from "../../libraries/compare/difference.ts";
import { openDifferenceGroups } from "../../libraries/compare/differenceGroups.ts";
import type { CurlPair } from "../../libraries/compare/curls.ts";
import { openSecrets, type Secrets } from "../../libraries/secrets/secrets.ts";
import { MAX_COMPARED } from "./comparedRequests.ts";
import type { DifferenceView } from "./views.ts";

/** A compared request and its differences. `id`: the same for the same request. `at`: ISO 8601. */
export type ComparedAnswer = {
  id: string;
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
 * Opens an empty collection of the differences of live traffic: counted by endpoint, path and kind, with a few samples
 * each. Each of the latest distinct requests of an endpoint that differ counts once. `onNew` is called with each group
 * before its first sample.
 */
export const openDifferences = (
  onNew: (difference: Pick<DifferenceView, "endpoint" | "path" | "kind" | "form" | "cause">) => void = () => undefined,
) => {
  const secrets = openSecrets();
  const groups = openDifferenceGroups<DifferenceView>(MAX_PER_ENDPOINT);
  /** The requests that a group has seen, one bit for each request, at its number. */
  const seen = new WeakMap<DifferenceView, Uint32Array>();
  const seenBy = (group: DifferenceView) => seen.get(group) as Uint32Array;
  /** The number of each request that differs, by endpoint, in the order of their latest comparisons. */
  const numbers = new Map<string, Map<string, number>>();
  let sampleChars = 0;

  const remove = (wanted: (group: DifferenceView) => boolean): void => {
    for (const { samples } of groups.remove(wanted))
      for (const sample of samples) sampleChars -= JSON.stringify(sample).length;
  };
  /** Frees a number: from now on no group has seen its request. */
  const forget = (endpoint: string, number: number): void =>
    remove((group) => {
      if (group.endpoint !== endpoint || !flip(seenBy(group), number, false)) return false;
      group.requests--;
      return group.requests === 0;
    });
  /** A number below `MAX_COMPARED`; if none is left, that of the request that was compared longest ago. */
  const numberOf = ({ endpoint, id }: ComparedAnswer): number => {
    const known = numbers.get(endpoint) ?? new Map<string, number>();
    numbers.set(endpoint, known);
    const digest = hash("sha256", id, "base64url").slice(0, 8);
    let number = known.get(digest);
    known.delete(digest);
    if (number === undefined && known.size === MAX_COMPARED) {
      const [[oldest, freed] = ["", 0]] = known;
      known.delete(oldest);
      forget(endpoint, freed);
      number = freed;
    }
    number ??= known.size;
    known.set(digest, number);
    return number;
  };

  /** Stores the answer as a sample, with the same chance for every request (reservoir sampling). */
  const sample = (
    group: DifferenceView,
    { question, at, curl, key }: ComparedAnswer,
    { legacy, expected, candidate }: Difference,
  ) => {
    const place =
      group.samples.length < MAX_SAMPLES ? group.samples.length : Math.floor(Math.random() * group.requests);
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
      const { endpoint, differences } = answer;
      if (differences.length === 0) return;
      const number = numberOf(answer);
      for (const difference of differences) {
        const group = groups.of(endpoint, difference, (first) => {
          const made: DifferenceView = {
            endpoint,
            path: first.path,
            kind: first.kind,
            form: first.form,
            ...(first.rule === undefined ? {} : { rule: first.rule }),
            ...(first.entry === undefined ? {} : { entry: first.entry }),
            cause: causeOf(first),
            requests: 0,
            causeRequests: 0,
            samples: [],
          };
          seen.set(made, new Uint32Array(Math.ceil(MAX_COMPARED / 32)));
          onNew(made);
          return made;
        });
        if (!flip(seenBy(group), number, true)) continue;
        group.requests++;
        sample(group, answer, difference);
      }
    },
    /** The differences of one kind; the causes behind most requests come first. */
    view(kind: Classification): DifferenceView[] {
      const shown = groups.all().filter((group) => group.kind === kind);
      for (const alike of Object.values(Object.groupBy(shown, ({ cause }) => cause))) {
        const byEndpoint = Object.values(Object.groupBy(alike ?? [], ({ endpoint }) => endpoint));
        const requests = byEndpoint.reduce((sum, same = []) => sum + distinct(same.map(seenBy)), 0);
        for (const group of alike ?? []) group.causeRequests = requests;
      }
      return shown.toSorted(mostFirst);
    },
    /** Removes the differences that match, such as those that are expected from now on. */
    remove,
  };
};

/** Sets or clears the bit of a number; false if it had this value already. */
const flip = (bits: Uint32Array, number: number, isSet: boolean): boolean => {
  const [word, bit] = [bits[number >> 5] ?? 0, 1 << (number & 31)];
  if (((word & bit) !== 0) === isSet) return false;
  bits[number >> 5] = word ^ bit;
  return true;
};

/** The number of requests of an endpoint that any of these groups has seen: each may show a cause at many paths. */
const distinct = (groups: readonly Uint32Array[]): number => {
  const all = new Uint32Array(groups[0]?.length ?? 0);
  for (const seen of groups) for (let i = 0; i < all.length; i++) all[i] = (all[i] ?? 0) | (seen[i] ?? 0);
  let count = 0;
  for (const word of all) for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
};

/** The causes behind most requests first, and within a cause the paths. */
const mostFirst = (a: DifferenceView, b: DifferenceView): number =>
  b.causeRequests - a.causeRequests || a.cause.localeCompare(b.cause) || b.requests - a.requests;
