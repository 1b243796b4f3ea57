import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { type LegacyReading, readLegacy } from "../../legacy/reading.ts";
import { xmlReaderFor } from "../../legacy/xml.ts";
import { collectChanges } from "../../rules/notes.ts";
import type { Json } from "../../rules/rule.ts";
import { truncate } from "../../scrub/truncate.ts";
import { type Exchange, type FixtureAsk, storedExchange } from "./exchange.ts";
import { type ExitCode, type RecordJob, refused } from "./job.ts";
import type { Recorded } from "./recording.ts";

/** The two files of one pair. */
type PairFiles = { legacy: string; expected: string };

/** The files of an example, in a folder for each endpoint. */
export const pairFiles = (folder: string, endpoint: string, example: string): PairFiles => ({
  legacy: join(folder, endpoint, `${example}.legacy.json`),
  expected: join(folder, endpoint, `${example}.expected.json`),
});

/** A line for each file that exists already, and so may not be written. */
export const refusedFiles = (pairs: readonly PairFiles[], force: boolean): string[] =>
  pairs
    .flatMap(({ legacy, expected }) => [legacy, expected])
    .filter((path) => !force && existsSync(path))
    .map((path) => `${path} is there already; allowed is another name, or --force`);

/** The text of a fixture. */
const fixtureText = (document: unknown): string => `${JSON.stringify(document, undefined, 2)}\n`;

const writePair = (
  files: PairFiles,
  { about, ask, legacy }: { about: string; ask: FixtureAsk; legacy: Exchange[] },
  { status, body }: { status: number; body: unknown },
): void => {
  mkdirSync(dirname(files.legacy), { recursive: true });
  writeFileSync(files.legacy, fixtureText({ about, ask, legacy: legacy.map(storedExchange) }));
  writeFileSync(files.expected, fixtureText({ status, body }));
};

/** One recording and its files. `about`: the beginning of its description, where the command line gives none. */
type PairToSave = { name: string; endpoint: Endpoint; files: PairFiles; recorded: Recorded; about: string };

const MAX_LINES = 80;

/** Writes one pair, and prints what a person should review: the changes by each rule, and the expected answer. */
export const savePair = async (
  { args, tools, scrub, recording }: RecordJob,
  { name, endpoint, files, recorded, about }: PairToSave,
): Promise<ExitCode> => {
  const expected = await recording.expectedOf(recorded);
  if ("failed" in expected) return refused(tools, [expected.failed]);
  const mismatch = [...new Set([...recorded.mismatch, ...expected.mismatch])];
  if (mismatch.length > 0) {
    tools.complain(`${name}: the answer does not fit its schema: ${mismatch.join(", ")}`);
    if (!args.force) return 1;
  }
  const { ask, legacy } = recorded;
  const sentence = args.about ?? `${about}: ${ask.method} ${ask.path}.`;
  writePair(files, { about: scrub.text(sentence), ask, legacy }, expected);

  const lines = fixtureText({ status: expected.status, body: expected.body }).trimEnd().split("\n");
  const print = [
    `${files.legacy}: ${ask.method} ${ask.path}, ${legacy.length} asked of legacy`,
    ...legacy.map(({ request, response }) => `  ${request.method} ${request.path} -> ${response.status}`),
    `What the rules changed:`,
    ...formatChanges(endpoint, legacy).map((line) => `  ${line}`),
    `${files.expected}, written by the code under test: read it before you commit it.`,
    ...lines.slice(0, MAX_LINES),
    ...(lines.length > MAX_LINES ? [`… and ${lines.length - MAX_LINES} lines more`] : []),
  ];
  for (const line of print) tools.print(line);
  return mismatch.length > 0 ? 1 : 0;
};

const MAX_VALUE = 61;
const MAX_CHANGES = 100;

/** The changes by rules: `/creator  commaSeparated  "A, B" -> ["A","B"]`. Empty where legacy did not answer with a document. */
const formatChanges = (endpoint: Endpoint, legacy: readonly Exchange[]): string[] => {
  const reading = lastReading(endpoint, legacy);
  if (reading?.is !== "document") return [];
  const { note, changes } = collectChanges();
  endpoint.output.read(reading.document, note, reading.document);
  const lines = changes
    .slice(0, MAX_CHANGES)
    .map(
      ({ at, rule, before, after }) =>
        `${at === "" ? "/" : at}  ${rule}  ${formatJson(before)} -> ${formatJson(after)}`,
    );
  return changes.length > MAX_CHANGES ? [...lines, `… and ${changes.length - MAX_CHANGES} more`] : lines;
};

const formatJson = (value: Json | undefined): string =>
  value === undefined ? "nothing" : truncate(JSON.stringify(value), MAX_VALUE);

/** Legacy's last answer, from which the gateway made its own, as the gateway reads it. */
export const lastReading = (endpoint: Endpoint, legacy: readonly Exchange[]): LegacyReading | undefined => {
  const last = legacy.at(-1);
  return last && readLegacy(Buffer.from(last.response.body), xmlReaderFor(endpoint));
};
