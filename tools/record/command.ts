import { exampleTarget } from "../../libraries/compare/canonicalRequest.ts";
import type { Command } from "commander";
import { observeFields, type SeenFields } from "../compare/fields.ts";
import { type Endpoint, readInput } from "../../src/catalogue/index.ts";
import { suggestName } from "../../src/operation/index.ts";
import { isLongKey, MIN_KEY_LENGTH, openSecrets } from "../../libraries/secrets/secrets.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import { idRequests, readIds } from "../corpus/madeRequests.ts";
import { trafficMapper } from "../corpus/mapTraffic.ts";
import { readCorpus } from "../corpus/readCorpus.ts";
import { readKeyVariable, readUrl } from "../optionValues.ts";
import { plainText } from "../plainText.ts";
import type { CommandTools } from "../runCommand.ts";
import type { Exchange, FixtureAsk } from "../../fixtures/exchange.ts";
import { openRecording, type Recorded, type Replay } from "./recording.ts";
import { lastReading, saveCase } from "./saveCase.ts";

/** `folder`: that of the project's own fixtures. `openReplay` starts a legacy that answers with these exchanges. */
type RecordTools = CommandTools & { folder: string; openReplay: (exchanges: Exchange[]) => Promise<Replay> };

type RecordOptions = {
  legacy: string;
  ids?: Iterable<number>;
  corpus?: string;
  about?: string;
  key?: string;
  out: string;
  force?: boolean;
};

/** Gives a command the options of `record`, and its action. */
export const recordCommand = (command: Command, tools: RecordTools): Command =>
  command
    .description("Records what a legacy server answers as a fixture: a regression test at once.")
    .usage("--legacy URL [options] getDataset 61 as iris")
    .argument("<words...>", "endpoint, fields (61, or status=active limit=5), and the example's name: as iris")
    .requiredOption("--legacy <url>", "legacy; with a path where its interface does not begin at /api/v1", readUrl)
    .option("--ids <list>", "ids such as 1..50: records each answer that shows something new", readIds)
    .option("--corpus <file>", "a log: records each answer that shows something new; without an endpoint: as seen")
    .option("--about <text>", "what the example shows, in a sentence")
    .option("--key <env>", "environment variable with the key to ask with; recorded is the sample legacy's key")
    .option("--out <folder>", "the folder of {endpoint}.json, where the case goes", tools.folder)
    .option("--force", "overwrite an example; write what does not fit the schema")
    .addHelpText("after", `\nEndpoints: ${readingEndpoints(tools).join(", ")}`)
    .addHelpText("after", "\nExit code: 0 done, 1 an answer does not fit its endpoint's schema, 2 could not run.")
    .action((words: string[], options: RecordOptions) => record(words, options, tools));

const record = async (words: string[], options: RecordOptions, tools: RecordTools): Promise<void> => {
  const { catalogue, environment, folder: _, ...others } = tools;
  const { legacy, out, about, force = false } = options;
  const key = readKeyVariable(options.key, environment, MIN_KEY_LENGTH);
  const exampleName = words.at(-1) ?? "";
  if (words.at(-2) !== "as" || !/^[A-Za-z0-9]+([-_.][A-Za-z0-9]+)*$/.test(exampleName))
    throw new Error("as: needed at the end is a name of letters, digits and single dashes, such as: as iris");
  const isOne = options.ids === undefined && options.corpus === undefined;
  const requests = requestsOf(words.slice(0, -2), options, tools, key !== undefined);
  const keys = [key, environment["LEGACY_API_KEY"], environment["LEGACY_ADMIN_KEY"]];
  const scrub = openSecrets(keys.flatMap((known = "") => (isLongKey(known) ? [known] : [])));
  const print = (line: string) => others.print(plainText(scrub.text(line)));
  const complain = (line: string) => others.complain(plainText(scrub.text(line)));
  const recording = await openRecording({ catalogue, legacy, scrub, openReplay: others.openReplay });
  const sent = new Set<string>();
  const seen = new Set<string>();
  let [written, misfits] = [0, 0];
  try {
    for await (const { endpoint: name, method, path, body, keyed } of requests) {
      const ask: FixtureAsk = {
        method,
        path,
        ...(keyed && key !== undefined ? { key } : {}),
        ...(body === undefined ? {} : { json: body }),
      };
      const identity = JSON.stringify(ask);
      // Without the key, the answer to a keyed request may differ.
      if ((keyed && key === undefined) || sent.has(identity)) continue;
      sent.add(identity);
      const recorded = await recording.record(ask);
      if ("failed" in recorded) {
        // A legacy that fails at the first request cannot be reached.
        if (sent.size === 1) throw new Error(`--legacy: nothing was recorded. ${recorded.failed}`);
        complain(`${method} ${path}: ${recorded.failed}`);
        continue;
      }
      const endpoint = catalogue.endpoints[name] as Endpoint;
      if (recorded.mismatch.length > 0) {
        misfits++;
        complain(`${name}: the answer does not fit its schema: ${[...new Set(recorded.mismatch)].join(", ")}`);
        if (!force) continue;
      }
      const fresh = variantsShown(name, endpoint, recorded).filter((variant) => !seen.has(variant));
      if (!isOne && fresh.length === 0) continue;
      for (const variant of fresh) seen.add(variant);
      written++;
      const toSave = { name, endpoint, example: isOne ? exampleName : `${exampleName}-${written}`, recorded, about };
      await saveCase(toSave, { errors: catalogue.errors, folder: out, force, recording, scrub, print });
    }
  } catch (error) {
    throw new Error(scrub.text((error as Error).message), { cause: error });
  } finally {
    await recording.close();
  }
  if (sent.size === 0) throw new Error("Nothing was recorded: no request could be sent.");
  tools.exit(misfits > 0 ? 1 : 0);
};

const readingEndpoints = ({ catalogue }: CommandTools): string[] =>
  Object.entries(catalogue.endpoints).flatMap(([name, endpoint]) => (endpoint.writes ? [] : [name]));

/**
 * The requests that the command line names.
 *
 * @throws If it names no endpoint that reads: recording must not write.
 */
const requestsOf = (
  [name, ...given]: string[],
  { ids, corpus }: RecordOptions,
  tools: CommandTools,
  keyed: boolean,
): Iterable<CorpusRequest> | AsyncIterable<CorpusRequest> => {
  const { endpoints } = tools.catalogue;
  if (corpus !== undefined) {
    if (name !== undefined || ids !== undefined) throw new Error("--corpus: allowed beside it is only: as NAME");
    return readCorpus(corpus, trafficMapper(endpoints));
  }
  const reading = readingEndpoints(tools);
  const endpoint = name !== undefined && reading.includes(name) ? endpoints[name] : undefined;
  if (name === undefined || endpoint === undefined) {
    const meant = suggestName(name ?? "", reading);
    const advice = meant === undefined ? `allowed are those that read: ${reading.join(", ")}` : `is ${meant} meant?`;
    throw new Error(`${name ?? "no endpoint"}: ${advice}`);
  }
  if (ids === undefined) return [{ endpoint: name, method: "GET", path: targetOf(endpoint, given), keyed, shape: "" }];
  if (given.length > 0 || idRequests({ name: endpoint }, [1]).next().done)
    throw new Error(`--ids: allowed is an endpoint that answers for one id: --ids 1..50 getDataset as NAME`);
  return idRequests({ [name]: endpoint }, ids).map((request) => ({ ...request, keyed }));
};

/**
 * The path of a request with these fields, such as `limit=5`. A single text is the value of the required field, if
 * there is a required field.
 *
 * @throws An Error that says what is allowed.
 */
const targetOf = (endpoint: Endpoint, words: readonly string[]): string => {
  const required = Object.entries(endpoint.input).flatMap(([name, { fallback }]) => (fallback ? [] : [name]));
  const fields = Object.keys(endpoint.input).map((name) => (required.includes(name) ? `${name} (required)` : name));
  const allowed = `allowed are ${fields.join(", ") || "none"}`;
  const given = words.map((word) => {
    const [, name, text] = /^(\w+)=(.*)$/s.exec(word) ?? [];
    const isNamed = name !== undefined && (Object.hasOwn(endpoint.input, name) || required.length !== 1);
    const field = isNamed ? name : required.length === 1 ? required[0] : undefined;
    if (field === undefined) throw new Error(`${JSON.stringify(word)}: fields are given as name=value; ${allowed}`);
    return { name: field, loc: [field], text: isNamed ? (text ?? "") : word };
  });
  const reading = readInput(endpoint.input, given, "");
  if ("errors" in reading) {
    // `allowed` follows, which also names the required fields.
    const errors = reading.errors.map(({ loc, msg }) => `${loc.join(".")}: ${msg.replace(/; allowed: .*$/, "")}`);
    throw new Error(`${errors.join("; ")}; ${allowed}`);
  }
  const path = exampleTarget(endpoint, Object.fromEntries(given.map(({ name, text }) => [name, text])));
  if (path === undefined) throw new Error("No GET route of this endpoint takes these fields.");
  return path;
};

/** The variants that a recording shows: its status, legacy's error or format, and how legacy writes each field. */
const variantsShown = (name: string, endpoint: Endpoint, { status, legacy }: Recorded): string[] => {
  const reading = lastReading(endpoint, legacy);
  const fields: SeenFields = new Map();
  if (reading?.is === "document") observeFields(endpoint.output, reading.document, fields);
  return [
    `status ${status} after ${legacy.length}`,
    reading?.is === "error"
      ? `error ${reading.code}`
      : `${reading?.is} ${reading?.is === "document" ? reading.form : ""}`,
    ...[...fields].flatMap(([path, { seen }]) => Object.keys(seen).map((kind) => `${path} ${kind}`)),
  ].map((variant) => `${name} ${variant}`);
};
