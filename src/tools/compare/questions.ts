import { statSync } from "node:fs";
import type { Ask } from "../corpus/ask.ts";
import { exampleAsks } from "../corpus/exampleAsks.ts";
import { idAsks } from "../corpus/idAsks.ts";
import { mapperOf } from "../corpus/mapper.ts";
import { readCorpus } from "../corpus/readCorpus.ts";
import { sampleOf } from "../corpus/sampleOf.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Options } from "./options.ts";

/** What is asked, and how much it is; what the traffic holds beside is counted by reason. */
export type Questions = {
  asks: AsyncIterable<Ask> | Iterable<Ask>;
  total: number | undefined;
  skipped: Record<string, number>;
};

type Where = { prefixes: readonly string[]; legacyPath: string };

/** The questions that the options name, in their order; a file is read as it is asked, and once before to know how much it holds. */
export const questionsOf = async (
  options: Options,
  endpoints: Record<string, Endpoint>,
  { prefixes, legacyPath }: Where,
): Promise<Questions> => {
  const wanted = options.endpoints.length === 0 ? undefined : new Set(options.endpoints);
  const isWanted = ({ endpoint }: Ask) => wanted?.has(endpoint) ?? true;
  const { corpus, limit, ids } = options;
  if (corpus === undefined) {
    const keyed = options.keyName !== undefined;
    const all = ids === undefined ? exampleAsks(endpoints) : idAsks(endpoints, ids);
    const asks = () => filtered(all, isWanted, keyed);
    return limit === undefined
      ? {
          asks: asks(),
          total: await counted(filtered(ids ? idAsks(endpoints, ids) : all, isWanted, keyed)),
          skipped: {},
        }
      : sampled(asks(), limit, {});
  }
  const mapper = mapperOf(endpoints, { prefixes, legacyPath });
  const first = readCorpus(corpus, mapper);
  if (limit !== undefined) return sampled(filtered(first.asks, isWanted), limit, first.counts.skipped);
  // A pipe can be read only once.
  if (!statSync(corpus).isFile())
    return { asks: filtered(first.asks, isWanted), total: undefined, skipped: first.counts.skipped };
  const total = await counted(filtered(first.asks, isWanted));
  return { asks: filtered(readCorpus(corpus, mapper).asks, isWanted), total, skipped: first.counts.skipped };
};

const sampled = async (
  asks: AsyncIterable<Ask>,
  limit: number,
  skipped: Record<string, number>,
): Promise<Questions> => {
  const sample = await Array.fromAsync(sampleOf(asks, limit));
  return { asks: sample, total: sample.length, skipped };
};

const counted = async (asks: AsyncIterable<Ask>): Promise<number> => {
  let count = 0;
  for await (const _ of asks) count++;
  return count;
};

const filtered = async function* (
  asks: AsyncIterable<Ask> | Iterable<Ask>,
  isWanted: (ask: Ask) => boolean,
  keyed = false,
): AsyncGenerator<Ask> {
  for await (const ask of asks) if (isWanted(ask)) yield keyed ? { ...ask, keyed } : ask;
};
