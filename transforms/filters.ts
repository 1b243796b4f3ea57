import {
  getSegments,
  identifier,
  identifiers,
  integerFrom,
  type LegacyRequest,
  matching,
  oneOf,
  optionalField,
  range,
  type Unsent,
  withDefault,
} from "../src/catalogue/index.ts";
import { tagName } from "./tagging.ts";

/** The most ids, and characters of ids: legacy takes filters in its path, which has at most 8 KB. */
const MAX_IDS = 1000;
const IDS_LENGTH = 7000;

/** One id, or a list of ids. */
export const idList = optionalField(identifiers(MAX_IDS, IDS_LENGTH));
/** Entities with this tag. */
export const tagFilter = optionalField(tagName);
/** An id, of an uploader for example. */
export const idFilter = optionalField(identifier);

/** The states of a dataset or a study, and `all` for every state. */
export const datasetStatus = oneOf(["active", "deactivated", "in_preparation", "all"]);

/** The filters on a dataset's name and size, of the list of datasets and of that of tasks. */
export const datasetSizes = {
  number_instances: optionalField(range),
  number_features: optionalField(range),
  number_classes: optionalField(range),
  number_missing_values: optionalField(range),
};

export const datasetName = optionalField(matching(/^[A-Za-z0-9 _.,()-]{1,128}$/));

/** The most rows of a page of runs, evaluations or setups: legacy refuses a higher limit since its API 1.2.6. */
export const MAX_ROWS = 1000;

/**
 * The fields of a list's page. A limit is always sent: legacy has no default, and refuses an offset without a limit.
 * `most`: the highest limit. The default is for lists that legacy does not bound.
 */
export const page = (most = 10_000) => ({
  limit: withDefault(integerFrom(1, most), 100),
  offset: withDefault(integerFrom(0, Number.MAX_SAFE_INTEGER), 0),
});

/** The objects of a list's body whose members count as separate fields. */
export const bodyObjects = { pagination: ["limit", "offset"] };

type Filters = Record<string, string | number | number[] | undefined>;

/** A list's filters as segments of legacy's path, in their order, without `undefined` filters. */
export const filterSegments = (filters: Filters): (string | number)[] =>
  Object.entries(filters).flatMap(([name, value]) =>
    value === undefined ? [] : [name, Array.isArray(value) ? value.join(",") : value],
  );

/** The request for a list of legacy with these filters. An offset of 0 is left out. */
export const listBy = (
  list: readonly string[],
  { offset, ...filters }: Filters & { offset: number },
): LegacyRequest | Unsent =>
  getSegments([...list, ...filterSegments({ ...filters, offset: offset === 0 ? undefined : offset })]);
