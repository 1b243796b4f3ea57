import type { Endpoint } from "../../endpoint/endpoint.ts";
import { type ExitCode, type RecordJob, refused } from "./job.ts";
import { fixtureText, type PairFiles, writePair } from "./pairFiles.ts";
import { formatChanges } from "./printedChanges.ts";
import type { Recorded } from "./recording.ts";

/** One recording and where it goes; `about` is its beginning, where none was given. */
export type PairToSave = { name: string; endpoint: Endpoint; files: PairFiles; recorded: Recorded; about: string };

const MAX_LINES = 80;

/** Writes one pair, and prints what is to be reviewed: what each rule changed, and what is expected from now on. */
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
