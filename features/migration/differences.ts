import { hash } from "node:crypto";
import { causeOf, type Classification, type Difference } from "../../libraries/compare/difference.ts";
import { type DifferenceGroup, DifferenceTally } from "../../libraries/compare/differenceTally.ts";
import type { CurlPair } from "../../libraries/compare/curls.ts";
import { SampleRoom } from "../../libraries/compare/sampleRoom.ts";
import { openSecrets, type Secrets } from "../../libraries/secrets/secrets.ts";
import { MAX_COMPARED } from "./comparedRequests.ts";
import type { Json } from "../../src/catalogue/index.ts";

/** A compared request and its differences. `id`: the same for the same request. `at`: ISO 8601. */
export type ComparedAnswer = {
  id: string;
  endpoint: string;
  question: string;
  at: string;
  differences: readonly Difference[];
  curl: (secrets: Secrets) => Partial<CurlPair>;
  key?: string | undefined;
};

/** One difference seen in live traffic, scrubbed. */
export type DifferenceSample = {
  /** ISO 8601. */
  at: string;
  /** `GET /datasets/61` */
  question: string;
  legacy?: Json;
  expected?: Json;
  candidate?: Json;
  curl: Partial<CurlPair>;
};

/** A kind of difference that is seen for the first time, at one path of an endpoint. */
export type NewDifference = Pick<DifferenceView, "endpoint" | "path" | "kind" | "form" | "cause">;

type SampledGroup = DifferenceGroup<DifferenceSample>;

const MAX_SAMPLES = 5;
const MAX_PER_ENDPOINT = 500;

/**
 * Opens an empty collection of the differences of live traffic: counted by endpoint, path and kind, with a few samples
 * each. Each of the latest distinct requests of an endpoint that differ counts once. `onNew` is called with each group
 * before its first sample.
 */
export const openDifferences = (onNew: (difference: NewDifference) => void = () => undefined) => {
  const secrets = openSecrets();
  const tally = new DifferenceTally<DifferenceSample>(MAX_PER_ENDPOINT);
  const room = new SampleRoom();
  const numbers = new RequestNumbers();

  const freeSamples = (groups: readonly SampledGroup[]): void => {
    for (const { samples } of groups) for (const sample of samples) room.free(sample);
  };

  /** Stores the answer as a sample, with the same chance for every request (reservoir sampling). */
  const sample = ({ answers, samples }: SampledGroup, answer: ComparedAnswer, difference: Difference): void => {
    const place = samples.length < MAX_SAMPLES ? samples.length : Math.floor(Math.random() * answers.size);
    if (place >= MAX_SAMPLES) return;
    const redacted = redactedSample(secrets.ofCaller(answer.key), answer, difference);
    if (room.take(redacted, samples[place])) samples[place] = redacted;
  };

  return {
    add(answer: ComparedAnswer): void {
      const { endpoint, differences } = answer;
      if (differences.length === 0) return;
      const { number, isReused } = numbers.of(answer);
      if (isReused) freeSamples(tally.forget(endpoint, number));
      for (const { difference, group, isNew } of tally.add(endpoint, number, differences)) {
        if (!isNew) continue;
        if (group.answers.size === 1) onNew({ ...group, cause: causeOf(group) });
        sample(group, answer, difference);
      }
    },
    /** The differences of one kind; the causes behind most requests come first. */
    view: (kind: Classification): DifferenceView[] =>
      tally
        .causes(kind)
        .flatMap(({ name, answers, groups }) => groups.map((group) => viewOf(group, name, answers)))
        .toSorted(mostFirst),
    /** Removes the differences that match, such as those that are expected from now on. */
    remove: (wanted: (group: Pick<SampledGroup, "endpoint" | "path" | "kind" | "form">) => boolean): void =>
      freeSamples(tally.remove(wanted)),
  };
};

/** Numbers the latest distinct requests of each endpoint, from 0 to `MAX_COMPARED` - 1. */
class RequestNumbers {
  /** By endpoint and request, in the order of their latest comparisons. */
  readonly #numbers = new Map<string, Map<string, number>>();

  /** The number of a request. `isReused`: it was that of the request that was compared longest ago. */
  of({ endpoint, id }: Pick<ComparedAnswer, "endpoint" | "id">): { number: number; isReused: boolean } {
    const known = this.#numbers.get(endpoint) ?? new Map<string, number>();
    this.#numbers.set(endpoint, known);
    const digest = hash("sha256", id, "base64url").slice(0, 8);
    const own = known.get(digest);
    known.delete(digest);
    const isReused = own === undefined && known.size === MAX_COMPARED;
    const number = own ?? (isReused ? removeOldest(known) : known.size);
    known.set(digest, number);
    return { number, isReused };
  }
}

/** Removes the first entry, and returns its number. */
const removeOldest = (numbers: Map<string, number>): number => {
  const [[oldest, number] = ["", 0]] = numbers;
  numbers.delete(oldest);
  return number;
};

const redactedSample = (
  caller: Secrets,
  { question, at, curl }: ComparedAnswer,
  { legacy, expected, candidate }: Difference,
): DifferenceSample => {
  const values = Object.entries({ legacy, expected, candidate }).filter(([, value]) => value !== undefined);
  return {
    at,
    question: caller.text(question),
    ...Object.fromEntries(values.map(([side, value]) => [side, caller.json(value)])),
    curl: curl(caller),
  };
};

/** One line of `GET /differences`, the root causes first. */
export type DifferenceView = ReturnType<typeof viewOf>;

/** `causeRequests`: the distinct requests that show the same cause, at any path of any endpoint. */
const viewOf = (group: SampledGroup, cause: string, causeRequests: number) => ({
  endpoint: group.endpoint,
  path: group.path,
  kind: group.kind,
  form: group.form,
  ...(group.rule === undefined ? {} : { rule: group.rule }),
  ...(group.entry === undefined ? {} : { entry: group.entry }),
  cause,
  /** Of the latest 5000 requests of the endpoint that differed in this gateway since its start. */
  requests: group.answers.size,
  causeRequests,
  samples: group.samples,
});

/** The causes behind most requests first, and within a cause the paths. */
const mostFirst = (a: DifferenceView, b: DifferenceView): number =>
  b.causeRequests - a.causeRequests || a.cause.localeCompare(b.cause) || b.requests - a.requests;
