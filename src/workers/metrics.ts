import type { Aggregation, FamilyValues, Sample } from "../telemetry/series.ts";

const combine: Readonly<Record<Aggregation, (values: readonly number[]) => number>> = {
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  average: (values) => combine.sum(values) / values.length,
  first: ([value = 0]) => value,
  worst: (values) => Math.max(...values),
};

/** How a metric becomes one; the first process's counts where the metric names no known way. */
const aggregationOf = ({ aggregator = "sum" }: FamilyValues): Aggregation =>
  aggregator in combine ? (aggregator as Aggregation) : "first";

/** Values with the same labels become one. */
const combineSamples = (samples: readonly Sample[], aggregation: Aggregation): Sample[] => {
  const groups = new Map<string, { sample: Sample; values: number[] }>();
  for (const sample of samples) {
    const key = JSON.stringify([sample.metricName, sample.labels]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { sample, values: [sample.value] });
    else group.values.push(sample.value);
  }
  const combined = Array.from(groups.values(), ({ sample, values }) => ({
    ...sample,
    value: combine[aggregation](values),
  }));
  return aggregation === "worst" ? worstStates(combined) : combined;
};

/** Only the last `state` that is 1 stays so. */
const worstStates = (samples: readonly Sample[]): Sample[] => {
  const keyOf = ({ labels }: Sample) => JSON.stringify({ ...labels, state: "" });
  const worst = new Map(samples.filter(({ value }) => value === 1).map((sample) => [keyOf(sample), sample]));
  return samples.map((sample) => ({ ...sample, value: worst.get(keyOf(sample)) === sample ? 1 : 0 }));
};

/** The metrics of several processes as one, each by its `aggregator`. The order of the processes counts where that is `first`. */
export const aggregateMetrics = (processes: readonly (readonly FamilyValues[])[]): FamilyValues[] => {
  const families = new Map<string, FamilyValues[]>();
  for (const family of processes.flat()) families.set(family.name, [...(families.get(family.name) ?? []), family]);
  return [...families.values()].map((all) => {
    const first = all[0] as FamilyValues;
    const samples = all.flatMap(({ values }) => values);
    return { ...first, values: combineSamples(samples, aggregationOf(first)) };
  });
};

/** What workers had counted when they ended: counters and histograms, which never go down. */
export const openEndedMetrics = () => {
  let ended: FamilyValues[] = [];
  return {
    add(metrics: readonly FamilyValues[]): void {
      ended = aggregateMetrics([ended, metrics.filter(({ type }) => type !== "gauge")]);
    },
    metrics: (): readonly FamilyValues[] => ended,
  };
};
