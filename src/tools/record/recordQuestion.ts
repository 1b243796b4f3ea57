import type { Wanted } from "./arguments.ts";
import { type ExitCode, type RecordJob, refused } from "./job.ts";
import { savePair } from "./keepPair.ts";
import { pairFiles, refusedFiles } from "./pairFiles.ts";
import { readRequest } from "./question.ts";
import { readingEndpoint } from "./readingEndpoint.ts";

/** `getDataset 61 as iris` -> one pair */
export const recordOne = async (
  job: RecordJob,
  { endpoint: name, given }: Wanted & { of: "question" },
): Promise<ExitCode> => {
  const { args, tools, recording } = job;
  const named = readingEndpoint(name, tools);
  if ("errors" in named) return refused(tools, named.errors);
  const { endpoint } = named;
  const question = readRequest(endpoint, given);
  if ("errors" in question) return refused(tools, question.errors);
  const files = pairFiles(args.out ?? tools.folder, name, args.as);
  const there = refusedFiles([files], args.force);
  if (there.length > 0) return refused(tools, there);

  const recorded = await recording.record({ ...question.ask, ...(args.key && { key: args.key }) });
  if ("failed" in recorded) return refused(tools, [`--legacy: nothing was recorded. ${recorded.failed}`]);
  return savePair(job, { name, endpoint, files, recorded, about: "Recorded from a legacy server" });
};
