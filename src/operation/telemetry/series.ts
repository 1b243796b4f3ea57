/** A value of a metric. `metricName`: if it differs from the family's, as in histograms. */
export type Sample = { labels: Readonly<Record<string, string | number>>; value: number; metricName?: string };

/** The description of a metric, which stands before its values. */
export type Family = {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
};

/** A metric with its values. */
export type FamilyValues = Family & { values: readonly Sample[] };

/**
 * A child for each combination of label values. `of` gives the child of these values, which exists from then on; hot
 * paths look it up only once.
 */
export const openChildren = <Child>(labelNames: readonly string[], open: (labels: Record<string, string>) => Child) => {
  const children = new Map<string, Child>();
  return {
    children,
    of: (...values: readonly string[]): Child => {
      const key = values.join("\n");
      let child = children.get(key);
      if (child === undefined) {
        child = open(Object.fromEntries(labelNames.map((name, i) => [name, values[i] ?? ""])));
        children.set(key, child);
      }
      return child;
    },
  };
};

/** The part of a counter with the same labels. */
export type CounterChild = { labels: Record<string, string>; value: number };

/** The part of a histogram with the same labels. `bounds`: the upper bounds of its buckets, in rising order. */
export class HistogramChild {
  readonly #name: string;
  readonly #labels: Record<string, string>;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(name: string, labels: Record<string, string>, bounds: readonly number[]) {
    this.#name = name;
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let i = 0;
    while (i < this.#bounds.length && value > (this.#bounds[i] as number)) i++;
    this.#counts[i] = (this.#counts[i] as number) + 1;
    this.#sum += value;
  }

  samples(): Sample[] {
    const [name, labels] = [this.#name, this.#labels];
    let count = 0;
    const buckets = [...this.#bounds, "+Inf"].map((le, i) => {
      count += this.#counts[i] as number;
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
