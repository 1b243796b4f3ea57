/** A value of a metric. `metricName`: if it differs from the family's, as in histograms. */
export type Sample = { labels: Readonly<Record<string, string | number>>; value: number; metricName?: string };

/** The description of a metric, which stands before its values. */
type Family = {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
};

/** A metric with its values. */
export type FamilyValues = Family & { values: readonly Sample[] };

/**
 * Adds a metric whose values are looked up when they are read.
 *
 * @throws If the name is taken.
 */
export type Register = (family: Family, read: () => readonly Sample[] | Promise<readonly Sample[]>) => void;

/** A child for each combination of label values. Hot paths look it up only once. */
const openChildren = <Child>(labelNames: readonly string[], open: (labels: Record<string, string>) => Child) => {
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
/** Registers a counter. Returns a function that gives the child of these label values, which exists from then on. */
export const openCounter = (
  register: Register,
  name: string,
  help: string,
  labelNames: readonly string[],
): ((...values: readonly string[]) => CounterChild) => {
  const { children, of } = openChildren<CounterChild>(labelNames, (labels) => ({ labels, value: 0 }));
  register({ name, help, type: "counter" }, () => [...children.values()]);
  return of;
};

/** Registers a histogram with these upper bounds, in rising order. Returns the same function as `openCounter`. */
export const openHistogram = (
  register: Register,
  name: string,
  help: string,
  labelNames: readonly string[],
  bounds: readonly number[],
): ((...values: readonly string[]) => HistogramChild) => {
  const { children, of } = openChildren(labelNames, (labels) => new HistogramChild(name, labels, bounds));
  register({ name, help, type: "histogram" }, () => [...children.values()].flatMap((child) => child.samples()));
  return of;
};

/** The part of a histogram with the same labels. */
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
