import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Wanted } from "./arguments.ts";
import type { CorpusRequest } from "../corpus/ask.ts";
import { coverRequests, SCHEMA_MISFIT } from "./coverage.ts";
import { requestsById } from "./idsAsked.ts";
import { type ExitCode, type RecordJob, refused } from "./job.ts";
import { savePair } from "./keepPair.ts";
import { pairFiles, refusedFiles } from "./pairFiles.ts";
import { readingEndpoint } from "./readingEndpoint.ts";

type Several = Exclude<Wanted, { of: "question" }>;

/** `--ids 1..50 getDataset as seen` -> the pairs `seen-1`, `seen-2` … that show all that was seen */
export const recordCoverage = async (job: RecordJob, wanted: Several): Promise<ExitCode> => {
  const { args, tools, recording } = job;
  const { endpoints } = tools.catalogue;
  const requests = asksOf(job, wanted);
  if ("errors" in requests) return refused(tools, requests.errors);
  const { chosen, asked, variants, left } = await coverRequests(requests, endpoints, recording, {
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

  tools.print(`${asked} asked, ${variants} variants seen; ${pairs.length} of them show all:`);
  const codes: number[] = [left[SCHEMA_MISFIT] === undefined ? 0 : 1];
  for (const pair of pairs) codes.push(await savePair(job, pair));
  return Math.max(...codes) as ExitCode;
};

const asksOf = ({ args, tools }: RecordJob, wanted: Several): AsyncIterable<CorpusRequest> | { errors: string[] } => {
  if (wanted.of === "corpus") return tools.readCorpus(wanted.file);
  const named = readingEndpoint(wanted.endpoint, tools);
  if ("errors" in named) return named;
  return requestsById(wanted.endpoint, named.endpoint, { ...wanted, keyed: args.key !== undefined });
};
