import { cacheKeyOf } from "../cache/cacheKey.ts";
import type { CacheKey } from "../cache/cacheRequest.ts";
import { type DeclaredLifetimes, lifetimesBy, freshOnly } from "../cache/lifetimes.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Field } from "../endpoint/field.ts";
import { markupPaths } from "../legacy/xml.ts";
import { type Readable, readableOf } from "../reading/readAnswer.ts";
import type { Backend } from "../features/migration/decide.ts";

/** An endpoint with what is made of it once, at the start. */
export type PreparedEndpoint = Endpoint &
  Readable & {
    fields: Record<string, Field<unknown>>;
    hasMarkup: boolean;
    /** What an input asks, where the answer may be kept. */
    cacheKey?: (input: Record<string, unknown>, backend: Backend) => CacheKey;
    /** The endpoint that has to show a caller what this one writes, and its input by this one's. */
    mustRead?: { endpoint: PreparedEndpoint; inputOf(input: Record<string, unknown>): Record<string, unknown> };
  };

export type Preparing = {
  /** By the endpoint's name: a change of what it answers changes it. */
  versions: Readonly<Record<string, string>>;
  /** Which legacy and which modern answer, as far as it makes a difference to answers. */
  backends: Readonly<Record<Backend, string>>;
  windows: Readonly<Record<string, DeclaredLifetimes>>;
};

export const prepare = (
  endpoints: Record<string, Endpoint>,
  { versions, backends, windows }: Preparing,
): PreparedEndpoint[] => {
  const questionOf = (name: string, { cache }: Endpoint): Pick<PreparedEndpoint, "cacheKey"> => {
    if (cache === undefined) return {};
    const lifetimesOf = lifetimesBy({ ...cache, ...windows[name] });
    // Where modern fails there is legacy: nothing of modern's is served for longer than it holds.
    const windowsBySide = { legacy: lifetimesOf, modern: freshOnly(lifetimesOf) };
    const about = { endpoint: name, personal: cache.personal ?? false };
    return {
      cacheKey: (input, backend) => ({
        key: cacheKeyOf(name, versions[name] ?? "", backends[backend], input),
        lifetimesOf: windowsBySide[backend],
        ...about,
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
