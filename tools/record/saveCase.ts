import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  collectChanges,
  type Endpoint,
  type ErrorTable,
  type Json,
  type LegacyReading,
  readLegacy,
  type RuleChange,
  xmlReaderFor,
} from "../../src/catalogue/index.ts";
import { truncate } from "../../src/operation/index.ts";
import type { GivenAnswer } from "../../libraries/compare/answers.ts";
import { explainAnswer } from "../../libraries/compare/explainAnswer.ts";
import type { Secrets } from "../../libraries/secrets/secrets.ts";
import { storedExchange } from "./exchange.ts";
import type { Exchange, StoredCase } from "../../fixtures/exchange.ts";
import type { Recorded, Recording } from "./recording.ts";

/** A recording to be written. `name`: the endpoint's. */
type CaseToSave = { name: string; endpoint: Endpoint; example: string; recorded: Recorded; about: string | undefined };

type SaveTools = {
  errors: ErrorTable;
  folder: string;
  force: boolean;
  recording: Recording;
  scrub: Secrets;
  print: (line: string) => void;
};

/**
 * Writes a case into its endpoint's file, and prints the parts that a person should review.
 *
 * @throws Without `force`, if the file has a case of this name. If the answer to the scrubbed case differs, or the case
 * cannot be written.
 */
export const saveCase = async (
  { name, endpoint, example, recorded, about }: CaseToSave,
  { errors, folder, force, recording, scrub, print }: SaveTools,
): Promise<void> => {
  const { ask, legacy } = recorded;
  const path = join(folder, `${name}.json`);
  const cases = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Record<string, StoredCase>) : {};
  if (!force && Object.hasOwn(cases, example))
    throw new Error(`${path} has ${example} already; allowed is another name, or --force`);
  const answer = await recording.answerTo(recorded);
  const sentence = about ?? `Recorded from a legacy server: ${ask.method} ${ask.path}.`;
  cases[example] = { about: scrub.text(sentence), ask, legacy: legacy.map(storedExchange), answer };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, await fixtureText(cases));
  const lines = [
    `${path}: ${example}, ${ask.method} ${ask.path}`,
    ...legacy.map(({ request, response }) => `  ${request.method} ${request.path} -> ${response.status}`),
    "What the rules changed:",
    ...formatChanges(changesOf({ endpoint, errors }, legacy, answer)),
    "The answer was written by the code under test: read it before you commit it.",
  ];
  for (const line of lines) print(line);
};

/** The text of a fixture file, as `npm run format` wants it. The formatter is loaded late: only development has it. */
export const fixtureText = async (cases: Readonly<Record<string, StoredCase>>): Promise<string> => {
  const { format } = await import("oxfmt");
  return (await format("fixture.json", JSON.stringify(cases), { printWidth: 120, objectWrap: "collapse" })).code;
};

const MAX_VALUE = 61;
const MAX_CHANGES = 100;

/** A change as a line: `/creator  commaSeparated  "A, B" -> ["A","B"]`. */
const formatChanges = (changes: readonly RuleChange[]): string[] => {
  const lines = changes
    .slice(0, MAX_CHANGES)
    .map(({ at, rule, before, after }) => `  ${at || "/"}  ${rule}  ${formatJson(before)} -> ${formatJson(after)}`);
  return changes.length > MAX_CHANGES ? [...lines, `  … and ${changes.length - MAX_CHANGES} more`] : lines;
};

/** The changes by rules between legacy's last answer and ours. An error is changed as a whole. */
const changesOf = (
  { endpoint, errors }: { endpoint: Endpoint; errors: ErrorTable },
  legacy: readonly Exchange[],
  answer: GivenAnswer,
): RuleChange[] => {
  const last = legacy.at(-1);
  const reading = lastReading(endpoint, legacy);
  if (reading?.is === "document" && answer.status === 200) {
    const { note, changes } = collectChanges();
    endpoint.output.read(reading.document, note, reading.document);
    return changes;
  }
  const exchange = last &&
    reading && { request: last.request, format: "json" as const, status: last.response.status, reading };
  return explainAnswer({ endpoint, errors }, exchange, answer).map(({ at, rule, legacy: before, expected: after }) => ({
    at,
    rule: rule ?? "no rule",
    before,
    after,
  }));
};

const formatJson = (value: Json | undefined): string =>
  value === undefined ? "nothing" : truncate(JSON.stringify(value), MAX_VALUE);

/** Legacy's last answer, from which the gateway made its answer, as the gateway reads it. */
export const lastReading = (endpoint: Endpoint, legacy: readonly Exchange[]): LegacyReading | undefined => {
  const last = legacy.at(-1);
  return last && readLegacy(Buffer.from(last.response.body), xmlReaderFor(endpoint));
};
