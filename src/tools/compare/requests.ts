import { statSync } from "node:fs";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import { exampleRequests, idRequests } from "../corpus/madeRequests.ts";
import { trafficMapper } from "../corpus/mapTraffic.ts";
import { readCorpus } from "../corpus/readCorpus.ts";
import { sampleRequests } from "../corpus/sample.ts";
import type { CompareOptions } from "./options.ts";

/** The requests of a run, and their number if it is known. Lines of the traffic that are not sent are counted by reason. */
type RunRequests = {
  requests: AsyncIterable<CorpusRequest> | Iterable<CorpusRequest>;
  total: number | undefined;
  skipped: Record<string, number>;
};

/** The requests that the options name, in their order. A file is read while they are taken, and once before to count them. */
export const requestsOf = async (
  options: CompareOptions,
  endpoints: Record<string, Endpoint>,
  paths: { prefixes: readonly string[]; legacyPath: string },
): Promise<RunRequests> => {
  const { corpus, limit, ids } = options;
  const mapper = corpus === undefined ? undefined : trafficMapper(endpoints, paths);
  const open = (): Omit<RunRequests, "total"> => {
    if (corpus !== undefined && mapper !== undefined) {
      const { requests, counts } = readCorpus(corpus, mapper);
      return { requests: wanted(requests, options), skipped: counts.skipped };
    }
    const made = ids === undefined ? exampleRequests(endpoints) : idRequests(endpoints, ids);
    return { requests: wanted(made, options), skipped: {} };
  };
  const { requests, skipped } = open();
  if (limit !== undefined) {
    const sample = await Array.fromAsync(sampleRequests(requests, limit));
    return { requests: sample, total: sample.length, skipped };
  }
  // A pipe can be read only once.
  if (corpus !== undefined && !statSync(corpus).isFile()) return { requests, total: undefined, skipped };
  let total = 0;
  for await (const _ of requests) total++;
  return { requests: open().requests, total, skipped };
};

/** The requests of the endpoints that the options name. Made requests are sent with the key, if there is one. */
const wanted = async function* (
  requests: AsyncIterable<CorpusRequest> | Iterable<CorpusRequest>,
  { endpoints, corpus, keyName }: CompareOptions,
): AsyncGenerator<CorpusRequest> {
  for await (const request of requests)
    if (endpoints.length === 0 || endpoints.includes(request.endpoint))
      yield corpus === undefined && keyName !== undefined ? { ...request, keyed: true } : request;
};
