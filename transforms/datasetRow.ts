import { entriesOf, type Json, type JsonObject, member, type RowById } from "../src/catalogue/index.ts";

/** The names of the qualities that legacy's list shows. */
const listedQualities = new Set([
  "MajorityClassSize",
  "MaxNominalAttDistinctValues",
  "MinorityClassSize",
  "NumberOfClasses",
  "NumberOfFeatures",
  "NumberOfInstances",
  "NumberOfInstancesWithMissingValues",
  "NumberOfMissingValues",
  "NumberOfNumericFeatures",
  "NumberOfSymbolicFeatures",
  "NumBinaryAtts",
]);

/** The text; an empty text for any other value. */
export const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** An id, from a number or a text. */
const idIn = (value: Json | undefined): number | undefined =>
  (typeof value === "string" || typeof value === "number") && /^[1-9]\d{0,9}$/.test(String(value))
    ? Number(value)
    : undefined;

const datasetIn = (legacy: JsonObject): Json | undefined => legacy["data_set_description"];

const qualitiesIn = (legacy: JsonObject | undefined): Json[] =>
  entriesOf(member(legacy, "data_qualities", "quality")).filter(
    (quality) => listedQualities.has(textOf(member(quality, "name"))) && textOf(member(quality, "value")) !== "",
  );

/** A dataset as a list shows it, from its own document and its qualities. */
export const datasetRow: RowById = {
  one: (id) => ({ method: "GET", path: `/data/${id}` }),
  visibilityOf(legacy, id) {
    const dataset = datasetIn(legacy);
    const visibility = member(dataset, "visibility") ?? "public";
    if (idIn(member(dataset, "id")) !== id) return undefined;
    return visibility === "private" || visibility === "public" ? visibility : undefined;
  },
  rest: (id) => ({ method: "GET", path: `/data/qualities/${id}` }),
  // The dataset has no qualities, is not processed yet, or could not be processed.
  noRest: new Set([362, 363, 364]),
  shown(legacy, rest) {
    const { id, name, version, status, format, file_id, tag } = datasetIn(legacy) as JsonObject;
    const known = {
      did: id,
      name,
      version,
      status,
      format,
      file_id,
      tag,
      md5_checksum: "",
      quality: qualitiesIn(rest),
    };
    return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as JsonObject;
  },
  document(rows) {
    // A list does not show tags. The row has them for the filter by tag.
    const listed = rows.map((row) => {
      const { tag: _, ...rest } = row;
      return rest;
    });
    return { data: { dataset: listed } };
  },
};
