type Text = string | undefined;
type Legacy = Record<string, string>;

const split = (value: string | string[] | undefined): string[] =>
  [value ?? []].flat().flatMap((entry) => entry.split(",").map((part) => part.trim()));
const integer = (value: Text): number | null => (value === undefined ? null : Number(value));

/** The dataset of the benchmark, mapped by hand. */
export const mapDataset = ({ data_set_description: d }: { data_set_description: Legacy }): unknown => ({
  id: integer(d["id"]),
  visibility: d["visibility"] ?? null,
  status: d["status"] ?? null,
  name: d["name"] ?? null,
  licence: d["licence"] ?? null,
  version: integer(d["version"]),
  version_label: d["version_label"] ?? null,
  language: d["language"] ?? null,
  creator: split(d["creator"]),
  contributor: split(d["contributor"]),
  citation: d["citation"] ?? null,
  paper_url: d["paper_url"] ?? null,
  upload_date: d["upload_date"] ?? null,
  processing_date: d["processing_date"]?.replace(" ", "T") ?? null,
  error: d["error"] ?? null,
  warning: d["warning"] ?? null,
  collection_date: d["collection_date"] ?? null,
  description: d["description"] ?? null,
  description_version: integer(d["description_version"]),
  tag: [d["tag"] ?? []].flat(),
  default_target_attribute: split(d["default_target_attribute"]),
  ignore_attribute: [d["ignore_attribute"] ?? []].flat(),
  row_id_attribute: split(d["row_id_attribute"]),
  url: d["url"] ?? null,
  parquet_url: d["parquet_url"],
  file_id: integer(d["file_id"]),
  format: d["format"]?.toLowerCase() ?? null,
  original_data_url: [d["original_data_url"] ?? []].flat(),
  md5_checksum: d["md5_checksum"] ?? null,
});

type Row = {
  did: number;
  name: string;
  version: number;
  format: string;
  file_id: number;
  status: string;
  md5_checksum: string;
  quality: { name: string; value: string }[];
};

/** The list of the benchmark, mapped by hand. */
export const mapList = ({ data }: { data: { dataset: Row[] } }): unknown =>
  data.dataset.map(({ did, name, version, format, file_id, status, md5_checksum, quality }) => ({
    did,
    name,
    version,
    format: format.toLowerCase(),
    file_id,
    status,
    md5_checksum: md5_checksum || null,
    quality: quality.map((one) => ({ name: one.name, value: Number(one.value) })),
  }));
