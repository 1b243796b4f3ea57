import {
  legacyPattern,
  type LegacyTarget,
  type OpaqueRead,
  readLegacyPath,
  withoutFormat,
} from "../../catalogue/index.ts";
import { isListing } from "../answer/emptyLists.ts";
import type { WholeCore } from "../answer/core.ts";
import type { PreparedEndpoint } from "../answer/prepared.ts";
import { type CacheKey, cacheKeyOf, legacyName } from "../cache/cacheRequest.ts";
import { lifetimesBy } from "../cache/policy.ts";
import type { Scheme } from "./whoAsks.ts";

/** The answers are judged by an endpoint, with its input. */
export type ByEndpoint = { endpoint: PreparedEndpoint; input: Record<string, unknown> };
/** No endpoint covers the read: its answers are judged by their bytes, and belong to these groups. */
export type ByBytes = { groups: (isFound: boolean) => readonly string[] };

/** The read that a path of legacy's interface stands for. */
export type PathRead = {
  /** The name of its endpoint, or of its row of `opaqueReads`. */
  name: string;
  judging: ByEndpoint | ByBytes;
  form: "json" | "xml";
  /** The path that the gateway sends: below `LEGACY_PATH`, not unescaped, with unordered entries in order. */
  path: string;
  cacheKeys: Readonly<Record<Scheme, CacheKey>>;
  /** The values of a form, which take the place of the path's last segments: the read is a POST. */
  values: readonly string[];
  /** The answer is a list, which may be empty. */
  isList: boolean;
};

/** The parts of a read that do not depend on its form. */
type KnownRead = Pick<PathRead, "name" | "judging" | "isList"> &
  Pick<CacheKey, "lifetimesOf" | "personal"> &
  Pick<OpaqueRead, "isUnordered">;

/** Reads a path, with the `values` of a form. `undefined`: a request for the path has to be proxied. */
export type ReadPath = (path: string, values?: readonly string[]) => PathRead | undefined;

/** Matches escapes and `..` segments: legacy reads them in its own way. */
const notPlain = /%|\/\.\.?(?:\/|$)/;

/** Opens the reading of paths. `legacy` identifies the legacy server. */
export const openPathReads = (
  {
    catalogue,
    endpoints,
    readTarget,
    settings,
  }: Pick<WholeCore, "catalogue" | "endpoints" | "readTarget" | "settings">,
  legacy: string,
): ReadPath => {
  const names = settings.CACHE_LEGACY;
  const patterns = endpoints.flatMap((endpoint) => legacyPattern(endpoint));
  const cached = new Map(
    endpoints
      .filter(({ name, cacheKey }) => cacheKey !== undefined && (names.includes("all") || names.includes(name)))
      .map((endpoint) => [endpoint.name, endpoint]),
  );
  const opaqueReads = (names.includes("all") ? catalogue.opaqueReads : []).map((read) => ({
    ...read,
    lifetimesOf: lifetimesBy(read.lifetimes),
  }));
  /** Finds the read of a path below the interface's path, without the form. */
  const findRead = (segments: readonly string[]): KnownRead | undefined => {
    const [match] = readLegacyPath(patterns, segments);
    if (match === undefined) return findOpaqueRead(opaqueReads, `/${segments.join("/")}`);
    const endpoint = cached.get(match.pattern.endpoint.name);
    const input = endpoint && inputOf(endpoint, match.texts);
    if (endpoint?.cacheKey === undefined || input === undefined) return undefined;
    return {
      name: endpoint.name,
      judging: { endpoint, input },
      isList: isListing(endpoint),
      ...endpoint.cacheKey(input),
    };
  };
  return (path, values = []) => {
    const target = notPlain.test(path) ? undefined : readTarget(path);
    if (target === undefined) return undefined;
    const read = findRead([...withoutFormat(target), ...values]);
    if (read === undefined) return undefined;
    const { name, judging, isList, isUnordered, lifetimesOf, personal } = read;
    const sent = isUnordered === true ? inOrder(target) : target;
    const segments = withoutFormat(sent);
    const form = sent.segments[0] === "json" ? "json" : "xml";
    const endpoint = legacyName(name);
    const cacheKey = (scheme: Scheme): CacheKey => {
      // Legacy rewrites some values of a form, but no segments of a path: both have different keys.
      const key = cacheKeyOf(endpoint, legacy, { form, scheme, segments, ...(values.length > 0 && { values }) });
      return { key, endpoint, lifetimesOf, personal };
    };
    const cacheKeys = { http: cacheKey("http"), https: cacheKey("https") };
    return { name, judging, isList, form, path: sent.path, values, cacheKeys };
  };
};

/**
 * The same target with the entries of its last segment in order, each once. The gateway also sends this path to legacy,
 * so that the answer for all callers does not depend on how the first caller wrote the path.
 */
const inOrder = ({ path, segments }: LegacyTarget): Pick<LegacyTarget, "path" | "segments"> => {
  const last = segments.at(-1) ?? "";
  const ordered = [...new Set(last.split(","))].toSorted().join(",");
  return { path: path.slice(0, path.length - last.length) + ordered, segments: [...segments.slice(0, -1), ordered] };
};

const findOpaqueRead = (
  opaqueReads: readonly (OpaqueRead & Pick<CacheKey, "lifetimesOf">)[],
  path: string,
): KnownRead | undefined => {
  for (const { name, path: pattern, lifetimesOf, groups, isList = false, isUnordered } of opaqueReads) {
    const [match, ...texts] = pattern.exec(path) ?? [];
    if (match === undefined) continue;
    const judging = { groups: (isFound: boolean) => groups(isFound, ...texts) };
    return { name, judging, isList, isUnordered, lifetimesOf, personal: false };
  }
  return undefined;
};

/**
 * The endpoint's input, without its defaults: legacy has different defaults. `undefined` if a field cannot read its
 * text: the gateway does not know how legacy reads it.
 */
const inputOf = (
  endpoint: PreparedEndpoint,
  texts: Readonly<Record<string, string>>,
): Record<string, unknown> | undefined => {
  const input: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(endpoint.input)) {
    const text = texts[name];
    const reading = text === undefined ? undefined : (field.fromLegacyText?.(text) ?? field.fromText(text));
    if (reading?.ok === false) return undefined;
    input[name] = reading?.value;
  }
  return input;
};
