/** The options of a benchmark; `seconds` for each load. */
export type BenchOptions = { rounds: number; seconds: number; only?: string };

const sections = [
  "passthrough",
  "transform",
  "startup",
  "cache",
  "log",
  "miss",
  "mirror",
  "memory",
  "scan",
  "gateways",
  "capacity",
] as const;

/** The text of `--help`. */
export const usage = `npm run bench -- [--rounds N] [--seconds N] [--only ${sections.join("|")}]

Measures this checkout against its peers, in one run: all figures are ratios to a peer, raw medians beside them.
What is not installed (nginx, varnish, wrk, taskset) is left out, and said so. Exit: 0 measured, 1 a wrong answer, 2 wrong options.`;

/** The options, or their error. */
export const readOptions = (args: string[]): BenchOptions | string => {
  const options: BenchOptions = { rounds: 6, seconds: 1 };
  for (let i = 0; i < args.length; i += 2) {
    const [name, value] = [args[i], args[i + 1]];
    if (name === "--only" && sections.some((section) => section === value)) options.only = value as string;
    else if ((name === "--rounds" || name === "--seconds") && /^[1-9]\d{0,2}$/.test(value ?? ""))
      options[name.slice(2) as "rounds" | "seconds"] = Number(value);
    else return `${name} ${value ?? ""}: unknown or without a sensible value`;
  }
  return options;
};
