import { parseArgs } from "node:util";

export type Options = { requests: number; seed: number; only: string[] };

export const usageOf = (
  attacks: readonly { name: string; what: string }[],
): string => `npm run check:torture -- [options]

Runs attacks against the real program, each with a verdict of its own. The last one, "fuzz", sends many requests of fuzzed clients to a fuzzed
upstream through the gateway.

  --requests N   how many requests the fuzz sends (default: 100000)
  --seed S       a number from 0 to 4294967295; the same seed sends the same requests (default: another one at each run; it is printed)
  --only NAME    only this attack (may be given several times)
  --help

${attacks.map(({ name, what }) => `  ${name.padEnd(20)} ${what}`).join("\n")}

Exit code: 0 all held, 1 something did not, 2 it could not run.`;

/** Reads the command line; an error names the option, what was given and what is allowed. */
export const readOptions = (args: string[], names: readonly string[]): Options | { error: string } | "help" => {
  let values: ReturnType<typeof parse>;
  try {
    values = parse(args);
  } catch (error) {
    return { error: (error as Error).message };
  }
  if (values.help === true) return "help";
  const number = (name: "requests" | "seed", unset: number, least: number, most: number): number | string => {
    const text = values[name];
    if (text === undefined) return unset;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    return `--${name}: ${JSON.stringify(text)} given; allowed is a number from ${least} to ${most}`;
  };
  const requests = number("requests", 100_000, 1, 100_000_000);
  const seed = number("seed", Math.floor(Math.random() * 2 ** 32), 0, 2 ** 32 - 1);
  const only = values.only ?? [];
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined)
    return { error: `--only: ${JSON.stringify(unknown)} given; allowed are ${names.join(", ")}` };
  if (typeof requests === "string") return { error: requests };
  if (typeof seed === "string") return { error: seed };
  return { requests, seed, only };
};

const parse = (args: string[]) =>
  parseArgs({
    args,
    options: {
      requests: { type: "string" },
      seed: { type: "string" },
      only: { type: "string", multiple: true },
      help: { type: "boolean", short: "h" },
    },
    strict: true,
    allowPositionals: false,
  }).values;
