import { cacheKeyOf, type CacheKey } from "../cache/cacheRequest.ts";
import { type DeclaredLifetimes, lifetimesBy } from "../cache/lifetimes.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Field } from "../endpoint/field.ts";
import { markupPaths } from "../legacy/xml.ts";
import { type Readable, readableOf } from "../reading/readAnswer.ts";

/** An endpoint with what is made of it once, at the start. */
export type PreparedEndpoint = Endpoint &
  Readable & {
    fields: Record<string, Field<unknown>>;
    hasMarkup: boolean;
    /** The cache key of an input, where answers may be cached. `backend` identifies who answers, as far as answers differ by it; default: this legacy. */
    cacheKey?: (input: Record<string, unknown>, backend?: string) => CacheKey;
    /** The endpoint that has to show a caller what this one writes, and its input by this one's. */
    mustRead?: { endpoint: PreparedEndpoint; inputOf(input: Record<string, unknown>): Record<string, unknown> };
  };

export type Preparing = {
  /** Identifies the legacy interface, as far as answers differ by it. */
  legacy: string;
  lifetimes: Readonly<Record<string, DeclaredLifetimes>>;
};

export const prepare = (endpoints: Record<string, Endpoint>, { legacy, lifetimes }: Preparing): PreparedEndpoint[] => {
  const questionOf = (name: string, { cache }: Endpoint): Pick<PreparedEndpoint, "cacheKey"> => {
    if (cache === undefined) return {};
    const lifetimesOf = lifetimesBy({ ...cache, ...lifetimes[name] });
    const personal = cache.personal ?? false;
    return {
      cacheKey: (input, backend = legacy) => ({
        key: cacheKeyOf(name, backend, input),
        lifetimesOf,
        endpoint: name,
        personal,
      }),
    };
  };
  const all = Object.entries(endpoints).map(([name, endpoint]): PreparedEndpoint => {
    return {
      ...endpoint,
      ...readableOf(name, endpoint),
      fields: endpoint.input,
      hasMarkup: markupPaths(endpoint.output).length > 0,
      ...questionOf(name, endpoint),
    };
  });
  for (const one of all) if (one.access) one.mustRead = mustReadOf(one.access, all);
  return all;
};

/** Throws where an endpoint names one that is none: a mistake in its definition. */
const mustReadOf = (
  access: NonNullable<Endpoint["access"]>,
  all: readonly PreparedEndpoint[],
): NonNullable<PreparedEndpoint["mustRead"]> => {
  const found = all.find(({ name }) => name === access.endpoint);
  if (found === undefined) throw new Error(`There is no endpoint "${access.endpoint}" to ask for access.`);
  return { endpoint: found, inputOf: (input) => access.input(input) };
};
