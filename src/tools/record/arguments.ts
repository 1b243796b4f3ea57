import { parseArgs } from "node:util";
import { MIN_KEY_LENGTH } from "../../scrub/secrets.ts";
import { readKeyVariable } from "../keyVariable.ts";
import type { LegacyPlace } from "./recording.ts";

/** What is recorded: one request, a range of an endpoint's ids, or the requests of a log. */
export type Wanted =
  | { of: "question"; endpoint: string; given: string[] }
  | { of: "ids"; endpoint: string; from: number; to: number }
  | { of: "corpus"; file: string };

/** The command line of `npm run record`. */
export type RecordArguments = {
  legacy: LegacyPlace;
  wanted: Wanted;
  /** The example's name, or the prefix of several names. */
  as: string;
  about?: string;
  force: boolean;
  out?: string;
  key?: string;
};

const options = {
  legacy: { type: "string" },
  about: { type: "string" },
  key: { type: "string" },
  out: { type: "string" },
  ids: { type: "string" },
  corpus: { type: "string" },
  force: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

const MAX_IDS = 10_000;
const refuse = (...errors: string[]) => ({ errors });

/** Reads the arguments. Errors say what is allowed, and do not show a key. */
export const readRecordArguments = (
  args: string[],
  environment: Readonly<Record<string, string | undefined>>,
): RecordArguments | { errors: string[] } | { help: true } => {
  let parsed;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch {
    const known = Object.keys(options).map((name) => `--${name}`);
    const unknown = args.find((arg) => arg.startsWith("-") && !known.includes(arg.split("=")[0] as string));
    const what =
      unknown === undefined ? "An option has no value, or one too many" : `${unknown.split("=")[0]}: unknown option`;
    return refuse(`${what}; allowed are ${known.join(", ")}`);
  }
  const { values, positionals } = parsed;
  if (values.help === true) return { help: true };
  const legacy = placeOf(values.legacy ?? "");
  if (legacy === undefined)
    return refuse(
      "--legacy: needed is the URL of the legacy server, such as https://legacy.example or https://legacy.example/api/v1",
    );
  const as = positionals.at(-1) ?? "";
  if (positionals.at(-2) !== "as" || !/^[A-Za-z0-9]+([-_.][A-Za-z0-9]+)*$/.test(as))
    return refuse("as: the example's name is needed at the end, of letters, digits and single dashes: as iris");
  const wanted = wantedBy(positionals.slice(0, -2), values);
  if ("errors" in wanted) return wanted;
  const key = values.key === undefined ? undefined : readKeyVariable(values.key, environment, MIN_KEY_LENGTH);
  if (key !== undefined && "errors" in key) return key;
  const { about, out, force = false } = values;
  return {
    legacy,
    wanted,
    as,
    force,
    ...(about === undefined ? {} : { about }),
    ...(out === undefined ? {} : { out }),
    ...(key === undefined ? {} : { key: key.key }),
  };
};

/** A URL with a user or a password is refused: they would not be sent. */
const placeOf = (text: string): LegacyPlace | undefined => {
  if (!/^https?:\/\/[^/?#@\s]+(\/[A-Za-z0-9_.~-]+)*\/?$/.test(text) || !URL.canParse(text)) return undefined;
  const { origin, pathname } = new URL(text);
  return { origin, path: pathname === "/" ? "/api/v1" : pathname.replace(/\/$/, "") };
};

const wantedBy = (
  [endpoint, ...given]: string[],
  { ids, corpus }: { ids?: string; corpus?: string },
): Wanted | { errors: string[] } => {
  if (corpus !== undefined)
    return endpoint === undefined && ids === undefined
      ? { of: "corpus", file: corpus }
      : refuse("--corpus: the log says what is asked; allowed beside it is only as PREFIX");
  if (endpoint === undefined) return refuse("An endpoint is needed, and what to ask of it: getDataset 61 as iris");
  if (ids === undefined) return { of: "question", endpoint, given };
  const [, from = "", to = ""] = /^(\d{1,9})\.\.(\d{1,9})$/.exec(ids) ?? [];
  const count = Number(to) - Number(from) + 1;
  return from !== "" && count >= 1 && count <= MAX_IDS && given.length === 0
    ? { of: "ids", endpoint, from: Number(from), to: Number(to) }
    : refuse(`--ids: allowed are at most ${MAX_IDS} ids of one endpoint: --ids 1..50 getDataset as PREFIX`);
};

/** What `npm run record -- --help` prints. */
export const recordUsage = (endpoints: readonly string[]): string =>
  [
    "Records what a legacy server answers as a pair of fixtures: a regression test at once.",
    "",
    "  npm run record -- --legacy URL getDataset 61 as iris",
    "  npm run record -- --legacy URL listDatasets status=active limit=5 as five",
    "  npm run record -- --legacy URL --ids 1..50 getDataset as seen      the fewest that show every variant met",
    "  npm run record -- --legacy URL --corpus FILE as seen               the same for what a log shows",
    "",
    `Endpoints: ${endpoints.join(", ")}`,
    "",
    "  --legacy URL    the legacy server; with a path where its interface does not begin at /api/v1",
    "  --about TEXT    what the example shows, in a sentence",
    "  --key NAME      the environment variable that holds the key to ask with; recorded is the sample legacy's key",
    "  --out DIR       instead of the project's fixtures",
    "  --force         overwrite files; write what did not fit the schema",
    "  --help          this text",
    "",
    "Exit codes: 0 done, 1 the answer did not fit the endpoint's schema, 2 could not run.",
    "",
  ].join("\n");
