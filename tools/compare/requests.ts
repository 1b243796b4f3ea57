import { statSync } from "node:fs";
import type { Endpoint } from "../../src/catalogue/index.ts";
import type { Settings } from "../../src/operation/index.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import { exampleRequests, idRequests } from "../corpus/madeRequests.ts";
import { trafficMapper } from "../corpus/mapTraffic.ts";
import { readCorpus } from "../corpus/readCorpus.ts";
import { sampleRequests } from "../corpus/sampleRequests.ts";
import type { CompareOptions } from "./options.ts";

/**
 * The requests to compare, and their number if it is known. `skipped` counts the lines of traffic that are not sent, by
 * reason.
 */
type RunRequests = {
  requests: AsyncGenerator<CorpusRequest>;
  total: number | undefined;
  skipped: Record<string, number>;
};

/**
 * The requests that the options name, in their order. A file is read while they are taken; without `limit` it is also
 * read once before, to count them.
 */
export const requestsOf = async (
  { corpus, ids, key, limit, endpoint: names = [] }: CompareOptions,
  endpoints: Record<string, Endpoint>,
  { PREFIXES: prefixes, LEGACY_PATH: legacyPath }: Pick<Settings, "PREFIXES" | "LEGACY_PATH">,
): Promise<RunRequests> => {
  const mapTraffic = trafficMapper(endpoints, { prefixes, legacyPath });
  const made = () => (ids === undefined ? exampleRequests(endpoints) : idRequests(endpoints, ids));
  const skipped = {};
  const open = async function* (counts: Record<string, number> = {}): AsyncGenerator<CorpusRequest> {
    for await (const request of corpus === undefined ? made() : readCorpus(corpus, mapTraffic, counts))
      if (names.length === 0 || names.includes(request.endpoint))
        // Made requests are sent with the key, if there is a key.
        yield corpus === undefined && key !== undefined ? { ...request, keyed: true } : request;
  };
  if (limit !== undefined) {
    const sample = await sampleRequests(open(skipped), limit);
    return { requests: each(sample), total: sample.length, skipped };
  }
  // A pipe can be read only once.
  const isPipe = corpus !== undefined && statSync(corpus, { throwIfNoEntry: false })?.isFile() === false;
  const total = isPipe ? undefined : await countOf(open());
  return { requests: open(skipped), total, skipped };
};

const each = async function* <T>(these: readonly T[]): AsyncGenerator<T> {
  yield* these;
};

const countOf = async (these: AsyncIterable<unknown>): Promise<number> => {
  let count = 0;
  for await (const _ of these) count++;
  return count;
};
