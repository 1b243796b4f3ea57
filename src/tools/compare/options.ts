import { parseArgs } from "node:util";
import { readIds } from "../corpus/madeRequests.ts";

/** What to compare, by the command line. */
export type CompareOptions = {
  legacy?: string;
  candidate?: string;
  /** The candidate is the new implementation, not a gateway. */
  modern: boolean;
  endpoints: string[];
  ids?: Iterable<number>;
  idsText?: string;
  corpus?: string;
  keyName?: string;
  out: string;
  limit?: number;
  rate?: number;
  concurrency?: number;
  expected?: string;
  fresh: boolean;
};

/** What `npm run compare -- --help` prints. */
export const compareUsage = `npm run compare -- [options]

Holds legacy's answers against what the gateway makes of them, or a candidate's answers against those, and explains every difference.

  --legacy URL       the legacy interface: an origin, or with its path (default: LEGACY_URL, else the sample legacy)
  --candidate URL    what serves the new interface at URL/...; without it the gateway's own answers are compared
  --modern           the candidate is the new implementation, asked as the gateway asks it: on its own routes (MODERN_ROUTES), the key in
                     the query; without it the candidate is asked as the traffic has it
  --endpoint NAME    only this endpoint (may be given several times)
  --ids 1..131       ids for every endpoint that answers for one (also 1..9,61)
  --corpus FILE      recorded traffic: an access log (combined or JSON lines), a HAR, or one URL a line
                     (default without --ids and --corpus: the endpoints' own examples)
  --limit N          at most N questions, chosen for coverage: every endpoint, status and shape, the rarest first
  --key ENV          the environment variable with a key, for what was asked with one (for examples and ids: for all)
  --expected FILE    the ledger of expected differences, a JSON list, or "none" (default: with --candidate EXPECTED_DIFFERENCES,
                     else the ledger that ships, as the running gateway has it; without --candidate none)
  --rate N           questions a second (default: 10; a loopback legacy as fast as it goes; 0: no limit)
  --concurrency N    questions at the same time (default: 2; with a loopback legacy 8)
  --out DIR          where report.html, report.json, junit.xml and summary.md go (default: comparison)
  --fresh            begin anew, whatever was interrupted
  --help

Exit code: 0 nothing unexplained, 1 something is, 2 it could not run (or half of the questions got no answer). Interrupted, the same command goes on where it was.`;

const known = {
  legacy: { type: "string" },
  candidate: { type: "string" },
  modern: { type: "boolean" },
  endpoint: { type: "string", multiple: true },
  ids: { type: "string" },
  corpus: { type: "string" },
  key: { type: "string" },
  expected: { type: "string" },
  limit: { type: "string" },
  rate: { type: "string" },
  concurrency: { type: "string" },
  out: { type: "string" },
  fresh: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Reads the command line. An error names the option, what was given and what is allowed. */
export const readCompareOptions = (
  args: string[],
  endpoints: readonly string[],
): CompareOptions | { errors: string[] } | "help" => {
  let values: ReturnType<typeof parse>;
  try {
    values = parse(args);
  } catch (error) {
    return { errors: [(error as Error).message] };
  }
  if (values.help) return "help";
  const errors: string[] = [];
  const url = (name: "legacy" | "candidate") => {
    const text = values[name];
    if (text !== undefined && (!/^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(text) || !URL.canParse(text)))
      errors.push(
        `--${name}: ${withoutPassword(text)} given; allowed is a URL such as http://127.0.0.1:8080, without a user or a query`,
      );
    return text?.replace(/\/+$/, "");
  };
  const number = (name: "limit" | "rate" | "concurrency", least: number, most: number) => {
    const text = values[name];
    const value = text !== undefined && /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (text === undefined) return undefined;
    if (!(value >= least && value <= most) || (name !== "rate" && !Number.isInteger(value)))
      errors.push(`--${name}: ${JSON.stringify(text)} given; allowed is a number from ${least} to ${most}`);
    return value;
  };
  for (const name of values.endpoint ?? [])
    if (!endpoints.includes(name))
      errors.push(`--endpoint: ${JSON.stringify(name)} given; allowed are ${endpoints.join(", ")}`);
  if (values.ids !== undefined && values.corpus !== undefined)
    errors.push("--ids, --corpus: both given; allowed is one of them");
  if (values.modern && values.candidate === undefined) errors.push("--modern: given without --candidate");
  const ids = values.ids === undefined ? undefined : readIds(values.ids);
  if (ids && "errors" in ids) errors.push(...ids.errors.map((error) => `--ids: ${error}`));
  const options = {
    legacy: url("legacy"),
    candidate: url("candidate"),
    modern: values.modern ?? false,
    endpoints: values.endpoint ?? [],
    ...(ids && "ids" in ids ? { ids: ids.ids, idsText: values.ids } : {}),
    corpus: values.corpus,
    keyName: values.key,
    expected: values.expected,
    limit: number("limit", 1, 10_000_000),
    rate: number("rate", 0, 100_000),
    concurrency: number("concurrency", 1, 256),
    out: values.out ?? "comparison",
    fresh: values.fresh ?? false,
  };
  return errors.length > 0 ? { errors } : options;
};

const parse = (args: string[]) => parseArgs({ args, options: known, strict: true, allowPositionals: false }).values;

/** The parts of a URL before an @ and after a ? may be secrets. */
const withoutPassword = (text: string): string =>
  JSON.stringify(text.replace(/^[^]*@/, "(not shown)@").replace(/[?#][^]*$/, "?(not shown)"));
