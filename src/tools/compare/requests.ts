import { statSync } from "node:fs";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import { exampleRequests, idRequests } from "../corpus/madeRequests.ts";
import { trafficMapper } from "../corpus/mapTraffic.ts";
import { readCorpus } from "../corpus/readCorpus.ts";
import { sampleRequests } from "../corpus/sample.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { CompareOptions } from "./options.ts";

/** What is asked, and how much it is; what the traffic holds beside is counted by reason. */
type RunRequests = {
  requests: AsyncIterable<CorpusRequest> | Iterable<CorpusRequest>;
  total: number | undefined;
  skipped: Record<string, number>;
};

type Where = { prefixes: readonly string[]; legacyPath: string };

/** The questions that the options name, in their order; a file is read as it is asked, and once before to know how much it holds. */
export const requestsOf = async (
  options: CompareOptions,
  endpoints: Record<string, Endpoint>,
  { prefixes, legacyPath }: Where,
): Promise<RunRequests> => {
  const wanted = options.endpoints.length === 0 ? undefined : new Set(options.endpoints);
  const isWanted = ({ endpoint }: CorpusRequest) => wanted?.has(endpoint) ?? true;
  const { corpus, limit, ids } = options;
  if (corpus === undefined) {
    const keyed = options.keyName !== undefined;
    const all = ids === undefined ? exampleRequests(endpoints) : idRequests(endpoints, ids);
    const requests = () => filtered(all, isWanted, keyed);
    return limit === undefined
      ? {
          requests: requests(),
          total: await counted(filtered(ids ? idRequests(endpoints, ids) : all, isWanted, keyed)),
          skipped: {},
        }
      : sampled(requests(), limit, {});
  }
  const mapper = trafficMapper(endpoints, { prefixes, legacyPath });
  const first = readCorpus(corpus, mapper);
  if (limit !== undefined) return sampled(filtered(first.requests, isWanted), limit, first.counts.skipped);
  // A pipe can be read only once.
  if (!statSync(corpus).isFile())
    return { requests: filtered(first.requests, isWanted), total: undefined, skipped: first.counts.skipped };
  const total = await counted(filtered(first.requests, isWanted));
  return { requests: filtered(readCorpus(corpus, mapper).requests, isWanted), total, skipped: first.counts.skipped };
};

const sampled = async (
  requests: AsyncIterable<CorpusRequest>,
  limit: number,
  skipped: Record<string, number>,
): Promise<RunRequests> => {
  const sample = await Array.fromAsync(sampleRequests(requests, limit));
  return { requests: sample, total: sample.length, skipped };
};

const counted = async (requests: AsyncIterable<CorpusRequest>): Promise<number> => {
  let count = 0;
  for await (const _ of requests) count++;
  return count;
};

const filtered = async function* (
  requests: AsyncIterable<CorpusRequest> | Iterable<CorpusRequest>,
  isWanted: (request: CorpusRequest) => boolean,
  keyed = false,
): AsyncGenerator<CorpusRequest> {
  for await (const request of requests) if (isWanted(request)) yield keyed ? { ...request, keyed } : request;
};
