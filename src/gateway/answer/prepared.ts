import { cacheKeyOf, type CacheKey } from "../cache/cacheRequest.ts";
import {
  type DeclaredLifetimes,
  type Endpoint,
  type ErrorTable,
  type LegacyPaths,
  type LegacyWriteKnowledge,
  markupPaths,
  type OpaqueRead,
  type Readable,
  readableOf,
} from "../../catalogue/index.ts";
import { lifetimesBy, withDefaults } from "../cache/policy.ts";
import type { KeyProbes } from "./keys.ts";

/** The description of a legacy interface, and of the endpoints that replace it. */
export type Catalogue = {
  endpoints: Record<string, Endpoint>;
  errors: ErrorTable;
  keyProbes: KeyProbes;
  legacyPaths: LegacyPaths;
  legacyWrites: LegacyWriteKnowledge;
  /** Reads of the legacy interface that no endpoint covers, and whose answers may be stored. */
  opaqueReads: readonly OpaqueRead[];
  /** Reads that legacy also takes as a POST, by their paths: the form's fields, which are segments of a GET. */
  formReads: ReadonlyMap<string, readonly string[]>;
  /**
   * The URL of the module that exports the same `endpoints`, for the threads that read large answers. Without it, large
   * answers are read in the main thread.
   */
  module?: string;
  /** The path of the ledger of expected differences of the public reference implementation. */
  expectedDifferences: string;
};

/** An endpoint, with members that are derived from it once, at the start. */
export type PreparedEndpoint = Endpoint &
  Readable & {
    hasMarkup: boolean;
    /**
     * The cache key of an input, if answers may be cached. `backend` identifies the backend, if answers differ by it;
     * default: this legacy.
     */
    cacheKey?: (input: Record<string, unknown>, backend?: string) => CacheKey;
    /** The endpoint that a caller must be able to read before this endpoint may write. `inputOf`: maps the input. */
    mustRead?: { endpoint: PreparedEndpoint; inputOf(input: Record<string, unknown>): Record<string, unknown> };
  };

/** The lifetimes of each endpoint whose answers are cached. `changed`: those that the settings change. */
export const lifetimesInForce = (
  endpoints: Record<string, Endpoint>,
  changed: Readonly<Record<string, Partial<DeclaredLifetimes>>>,
): Record<string, DeclaredLifetimes> =>
  Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, { cache }]) =>
      cache === undefined ? [] : [[name, withDefaults({ ...cache, ...changed[name] })]],
    ),
  );

/**
 * Prepares all endpoints, once at the start. `legacy` identifies the legacy interface, if answers differ by it.
 *
 * @throws An error if an endpoint names another endpoint that does not exist.
 */
export const prepare = (
  endpoints: Record<string, Endpoint>,
  { legacy, lifetimes }: { legacy: string; lifetimes: Readonly<Record<string, DeclaredLifetimes>> },
): PreparedEndpoint[] => {
  const cacheKeyFor = (name: string, { cache }: Endpoint): Pick<PreparedEndpoint, "cacheKey"> => {
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
  const all: PreparedEndpoint[] = Object.entries(endpoints).map(([name, endpoint]) => ({
    ...endpoint,
    ...readableOf(name, endpoint),
    hasMarkup: markupPaths(endpoint.output).length > 0,
    ...cacheKeyFor(name, endpoint),
  }));
  for (const endpoint of all) if (endpoint.access) endpoint.mustRead = mustReadOf(endpoint.access, all);
  return all;
};

/**
 * The endpoint that checks the access, with its input.
 *
 * @throws An error if there is no such endpoint: the definition is wrong.
 */
const mustReadOf = (
  access: NonNullable<Endpoint["access"]>,
  all: readonly PreparedEndpoint[],
): NonNullable<PreparedEndpoint["mustRead"]> => {
  const endpoint = all.find(({ name }) => name === access.endpoint);
  if (endpoint === undefined) throw new Error(`There is no endpoint "${access.endpoint}" to ask for access.`);
  return { endpoint, inputOf: (input) => access.input(input) };
};

/** A path of the interface, and the endpoint for each of its methods. */
export type Pattern<E = PreparedEndpoint> = {
  /** The path below the prefix, in hono's syntax: `/datasets/:dataset_id`. */
  path: string;
  /** The path before its pairs of filters, if it takes filters. */
  pairsBelow?: string;
  methods: Map<"GET" | "POST", E>;
};

/**
 * All paths of all endpoints. Fixed words come before ids, so that `/datasets/list` and `/flow/list/limit/5` are lists.
 */
export const patterns = <E extends Pick<Endpoint, "routes">>(endpoints: readonly E[]): Pattern<E>[] => {
  const all = new Map<string, Pattern<E>>();
  for (const endpoint of endpoints)
    for (const route of endpoint.routes) {
      const [method, template] = route.split(" ", 2) as ["GET" | "POST", string];
      const pairsBelow = template.endsWith("/{...filters}") ? template.slice(0, -"/{...filters}".length) : undefined;
      const path =
        pairsBelow === undefined
          ? template.replaceAll(/\{(\w+)\??\}/g, (segment, name: string) =>
              segment.endsWith("?}") ? `:${name}{[^/]*}` : `:${name}`,
            )
          : `${pairsBelow}/*`;
      const pattern: Pattern<E> = all.get(path) ?? {
        path,
        methods: new Map(),
        ...(pairsBelow === undefined ? {} : { pairsBelow }),
      };
      all.set(path, { ...pattern, methods: pattern.methods.set(method, endpoint) });
    }
  const hasName = ({ path }: Pattern<E>) => path.includes(":");
  const isFixed = (pattern: Pattern<E>) => !hasName(pattern) && pattern.pairsBelow === undefined;
  const rank = (pattern: Pattern<E>) => (isFixed(pattern) ? 0 : hasName(pattern) ? 2 : 1);
  return [...all.values()].toSorted((a, b) => rank(a) - rank(b));
};

/** The methods that a path answers, for `Allow`. */
export const allowed = ({ methods }: { methods: ReadonlyMap<"GET" | "POST", unknown> }): string =>
  [...methods.keys()]
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
    .concat("OPTIONS")
    .join(", ");
