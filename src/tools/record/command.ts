import { readRecordArguments } from "./arguments.ts";
import { recordUsage } from "./help.ts";
import { type ExitCode, type RecordJob, type RecordTools, refused } from "./job.ts";
import { recordCoverage } from "./recordCoverage.ts";
import { openRecording } from "./recording.ts";
import { recordOne } from "./recordQuestion.ts";
import { isScrubbable, scrubber } from "../../scrub/scrub.ts";

/** `npm run record`: every line it prints and every file it writes is scrubbed. */
export const recordCommand = async (
  given: string[],
  environment: Readonly<Record<string, string | undefined>>,
  tools: RecordTools,
): Promise<ExitCode> => {
  const args = readRecordArguments(given, environment);
  if ("help" in args) {
    tools.print(recordUsage(Object.keys(tools.catalogue.endpoints)));
    return 0;
  }
  if ("errors" in args) return refused(tools, args.errors);
  const scrub = scrubber(
    [args.key ?? "", environment["LEGACY_API_KEY"] ?? "", environment["LEGACY_ADMIN_KEY"] ?? ""].filter(isScrubbable),
  );
  const quiet: RecordTools = {
    ...tools,
    print: (line) => tools.print(scrub.text(line)),
    complain: (line) => tools.complain(scrub.text(line)),
  };
  const recording = openRecording({ ...tools, legacy: args.legacy, scrub });
  const job: RecordJob = { args, tools: quiet, scrub, recording };
  try {
    return await (args.wanted.of === "question" ? recordOne(job, args.wanted) : recordCoverage(job, args.wanted));
  } catch (error) {
    return refused(quiet, [(error as Error).message]);
  } finally {
    await recording.close();
  }
};
