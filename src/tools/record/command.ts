import type { Endpoint } from "../../endpoint/endpoint.ts";
import { isLongKey, openSecrets } from "../../scrub/secrets.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import { readRecordArguments, recordUsage, type Wanted } from "./arguments.ts";
import { coverRequests, SCHEMA_MISFIT } from "./coverage.ts";
import { type ExitCode, type RecordJob, type RecordTools, refused } from "./job.ts";
import { openRecording } from "./recording.ts";
import { readingEndpoint, requestFromArguments, requestsById } from "./requests.ts";
import { pairFiles, refusedFiles, savePair } from "./savePair.ts";

/** Runs `npm run record`. Secrets are taken out of every line it prints and every file it writes. */
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
  const scrub = openSecrets(
    [args.key ?? "", environment["LEGACY_API_KEY"] ?? "", environment["LEGACY_ADMIN_KEY"] ?? ""].filter(isLongKey),
  );
  const quiet: RecordTools = {
    ...tools,
    print: (line) => tools.print(scrub.text(line)),
    complain: (line) => tools.complain(scrub.text(line)),
  };
  const recording = await openRecording({ ...tools, legacy: args.legacy, scrub });
  const job: RecordJob = { args, tools: quiet, scrub, recording };
  try {
    return await (args.wanted.of === "question" ? recordOne(job, args.wanted) : recordCoverage(job, args.wanted));
  } catch (error) {
    return refused(quiet, [(error as Error).message]);
  } finally {
    await recording.close();
  }
};

/** `getDataset 61 as iris` -> one pair. */
const recordOne = async (job: RecordJob, { endpoint: name, given }: Wanted & { of: "question" }): Promise<ExitCode> => {
  const { args, tools, recording } = job;
  const named = readingEndpoint(name, tools);
  if ("errors" in named) return refused(tools, named.errors);
  const { endpoint } = named;
  const request = requestFromArguments(endpoint, given);
  if ("errors" in request) return refused(tools, request.errors);
  const files = pairFiles(args.out ?? tools.folder, name, args.as);
  const there = refusedFiles([files], args.force);
  if (there.length > 0) return refused(tools, there);

  const recorded = await recording.record({ ...request.ask, ...(args.key && { key: args.key }) });
  if ("failed" in recorded) return refused(tools, [`--legacy: nothing was recorded. ${recorded.failed}`]);
  return savePair(job, { name, endpoint, files, recorded, about: "Recorded from a legacy server" });
};

type Several = Exclude<Wanted, { of: "question" }>;

/** `--ids 1..50 getDataset as seen` -> the fewest pairs `seen-1`, `seen-2` … that show all variants seen. */
const recordCoverage = async (job: RecordJob, wanted: Several): Promise<ExitCode> => {
  const { args, tools, recording } = job;
  const { endpoints } = tools.catalogue;
  const requests = requestsOfJob(job, wanted);
  if ("errors" in requests) return refused(tools, requests.errors);
  const { chosen, sent, variants, left } = await coverRequests(requests, endpoints, recording, {
    key: args.key,
    keepMisfits: args.force,
  });
  for (const [why, times] of Object.entries(left)) tools.complain(`left out ${times}: ${why}`);
  if (chosen.length === 0) return left[SCHEMA_MISFIT] === undefined ? refused(tools, ["Nothing was recorded."]) : 1;
  const pairs = chosen.map(({ name, recorded }, i) => ({
    name,
    endpoint: endpoints[name] as Endpoint,
    recorded,
    files: pairFiles(args.out ?? tools.folder, name, `${args.as}-${i + 1}`),
    about: "Recorded for what it shows",
  }));
  const there = refusedFiles(
    pairs.map(({ files }) => files),
    args.force,
  );
  if (there.length > 0) return refused(tools, there);

  tools.print(`${sent} asked, ${variants} variants seen; ${pairs.length} of them show all:`);
  const codes: number[] = [left[SCHEMA_MISFIT] === undefined ? 0 : 1];
  for (const pair of pairs) codes.push(await savePair(job, pair));
  return Math.max(...codes) as ExitCode;
};

const requestsOfJob = (
  { args, tools }: RecordJob,
  wanted: Several,
): AsyncIterable<CorpusRequest> | { errors: string[] } => {
  if (wanted.of === "corpus") return tools.readCorpus(wanted.file);
  const named = readingEndpoint(wanted.endpoint, tools);
  if ("errors" in named) return named;
  return requestsById(wanted.endpoint, named.endpoint, { ...wanted, keyed: args.key !== undefined });
};
