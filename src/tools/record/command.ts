import { readArguments } from "./arguments.ts";
import { helpText } from "./help.ts";
import { type ExitCode, type Job, type RecordTools, refused } from "./job.ts";
import { recordCoverage } from "./recordCoverage.ts";
import { openRecording } from "./recording.ts";
import { recordQuestion } from "./recordQuestion.ts";
import { isLongKey, openSecrets } from "../../scrub/secrets.ts";

/** `npm run record`: every line it prints and every file it writes is scrubbed. */
export const recordCommand = async (
  given: string[],
  environment: Readonly<Record<string, string | undefined>>,
  tools: RecordTools,
): Promise<ExitCode> => {
  const args = readArguments(given, environment);
  if ("help" in args) {
    tools.print(helpText(Object.keys(tools.catalogue.endpoints)));
    return 0;
  }
  if ("errors" in args) return refused(tools, args.errors);
  const scrub = openSecrets(
    [args.key ?? "", environment["LEGACY_API_KEY"] ?? "", environment["LEGACY_ADMIN_KEY"] ?? ""].filter(isLongKey),
  );
  const quiet: RecordTools = {
    ...tools,
    print: (line) => tools.print(scrub.text(line)),
    complain: (line) => tools.complain(scrub.text(line)),
  };
  const recording = await openRecording({ ...tools, legacy: args.legacy, scrub });
  const job: Job = { args, tools: quiet, scrub, recording };
  try {
    return await (args.wanted.of === "question" ? recordQuestion(job, args.wanted) : recordCoverage(job, args.wanted));
  } catch (error) {
    return refused(quiet, [(error as Error).message]);
  } finally {
    await recording.close();
  }
};
