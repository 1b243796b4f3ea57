import type { Endpoint } from "../../src/catalogue/index.ts";
import type { CurlPair } from "../../libraries/compare/curls.ts";
import { type Classification, type Difference, resultOf, severityOf } from "../../libraries/compare/difference.ts";
import { type DifferenceGroup, DifferenceTally } from "../../libraries/compare/differenceTally.ts";
import { SampleRoom } from "../../libraries/compare/sampleRoom.ts";
import type { ComparisonOutcome, ComparedOutcome, UncomparedOutcome } from "./compareOne.ts";
import { EndpointCounts, zeroSummary } from "./endpointCounts.ts";
import { fieldReports, type SeenFields } from "./fields.ts";
import type { Cause, ExampleAnswer, Report, ReportedDifference, Summary } from "./report/report.ts";

/** The only sample of a group: its first difference, and the commands of that request. */
type FirstDifference = { first: Difference; curl: CurlPair };
type ReportedGroup = DifferenceGroup<FirstDifference>;

type ReportHead = Pick<Report, "made" | "sides" | "skipped"> & { endpoints: Readonly<Record<string, Endpoint>> };

/** The largest number of distinct differences of an endpoint. */
const MAX_DIFFERENCES = 1000;
/** The largest number of distinct reasons why answers could not be compared. */
const MAX_FAILURES = 1000;
/** The number of answers that are shown for an explained difference, and for any other difference. */
const MAX_EXPLAINED_EXAMPLES = 1;
const MAX_EXAMPLES = 3;

/** Counts outcomes in memory that grows with their number only by a bit for each difference. */
export class Outcomes {
  readonly #endpoints = new Map<string, EndpointCounts>();
  readonly #tally = new DifferenceTally<FirstDifference>(MAX_DIFFERENCES);
  readonly #failures = new Map<string, Report["failures"][number]>();
  readonly #examples = new Map<string, ExampleAnswer>();
  readonly #room = new SampleRoom();

  add(outcome: ComparisonOutcome): void {
    const counts = this.#countsOf(outcome.endpoint);
    const number = counts.summary.compared;
    counts.add(outcome);
    if (outcome.differences === undefined) return this.#addFailure(outcome);
    const groups = this.#addDifferences(outcome, number);
    if (isWorthShowing(groups)) this.#addExample(outcome);
  }

  #countsOf(endpoint: string): EndpointCounts {
    const counts = this.#endpoints.get(endpoint) ?? new EndpointCounts(endpoint);
    this.#endpoints.set(endpoint, counts);
    return counts;
  }

  #addFailure({ endpoint, notCompared: kind, curl, why: given }: UncomparedOutcome): void {
    const isKnown = this.#failures.size < MAX_FAILURES || this.#failures.has(`${endpoint} ${kind} ${given}`);
    const why = isKnown ? given : "(other reasons)";
    const key = `${endpoint} ${kind} ${why}`;
    const failure = this.#failures.get(key) ?? { endpoint, kind, why, count: 0, curl };
    this.#failures.set(key, failure);
    failure.count++;
  }

  /** `number`: the answer's number among those of the endpoint. */
  #addDifferences({ endpoint, differences, curl }: ComparedOutcome, number: number): ReportedGroup[] {
    return this.#tally.add(endpoint, number, differences).map(({ difference, group }) => {
      if (group.samples.length === 0) group.samples.push({ first: difference, curl });
      return group;
    });
  }

  #addExample({ endpoint, differences, curl, example }: ComparedOutcome): void {
    const request = `${endpoint} ${curl.candidate}`;
    if (this.#examples.has(request)) return;
    const shown = { endpoint, result: resultOf(differences), curl, ...example() };
    if (this.#room.take(shown)) this.#examples.set(request, shown);
  }

  /** The fields seen of an endpoint; the caller adds to them. */
  fieldsOf(endpoint: string): SeenFields {
    return this.#countsOf(endpoint).fields;
  }

  /** The number of answers so far, and of those that differ without a reason. */
  counts(): { done: number; unexplained: number } {
    const { compared, unreadable, failed, unexplained } = this.#summary();
    return { done: compared + unreadable + failed, unexplained };
  }

  #summary(): Summary {
    const sum = zeroSummary();
    for (const { summary } of this.#endpoints.values())
      for (const name of Object.keys(sum) as (keyof Summary)[]) sum[name] += summary[name];
    return sum;
  }

  /** The report of all counted answers: unexplained differences first, then those that most answers show. */
  report({ made, sides, skipped, endpoints }: ReportHead): Report {
    const counted = Object.entries(endpoints).flatMap(([name, { output }]) => {
      const counts = this.#endpoints.get(name);
      return counts ? [{ name, counts, ...fieldReports(name, output, counts.fields) }] : [];
    });
    return {
      summary: this.#summary(),
      endpoints: Object.fromEntries(counted.map(({ name, counts }) => [name, counts.summary])),
      statuses: counted.flatMap(({ counts }) => counts.statuses()),
      latency: counted.flatMap(({ counts }) => counts.latency()),
      differences: this.#tally.groups().map(reportedDifference).toSorted(worstFirst),
      causes: this.#causes(),
      failures: [...this.#failures.values()].toSorted((a, b) => b.count - a.count),
      coverage: counted.flatMap(({ coverage }) => coverage),
      schemaDrift: counted.flatMap(({ schemaDrift }) => schemaDrift),
      skipped,
      made,
      sides,
      examples: [...this.#examples.values()].toSorted((a, b) => severityOf(b.result) - severityOf(a.result)),
    };
  }

  #causes(): Cause[] {
    const causes = this.#tally.causes().map(({ kind, name, answers, groups }) => {
      const [{ samples }] = groups as [ReportedGroup];
      const [{ curl }] = samples as [FirstDifference];
      const fields = groups.reduce((sum, group) => sum + group.fields, 0);
      const endpoints = [...new Set(groups.map(({ endpoint }) => endpoint))];
      return { kind, name, fields, answers, endpoints, curl };
    });
    return causes.toSorted(worstFirst);
  }
}

/** An answer is shown while it has a difference that has not been shown often enough. */
const isWorthShowing = (groups: readonly ReportedGroup[]): boolean =>
  groups.some(({ kind, answers }) => answers.size <= (kind === "explained" ? MAX_EXPLAINED_EXAMPLES : MAX_EXAMPLES));

const reportedDifference = ({ endpoint, path, samples, fields, answers }: ReportedGroup): ReportedDifference => {
  const [{ first, curl }] = samples as [FirstDifference];
  const { at: _at, ...shown } = first;
  return { endpoint, ...shown, path, count: fields, answers: answers.size, curl };
};

type Ranked = { kind: Classification; answers: number };
const worstFirst = (a: Ranked, b: Ranked): number => severityOf(b.kind) - severityOf(a.kind) || b.answers - a.answers;
