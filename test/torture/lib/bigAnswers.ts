const QUALITIES = [
  "NumberOfInstances",
  "NumberOfFeatures",
  "NumberOfClasses",
  "NumberOfMissingValues",
  "NumberOfInstancesWithMissingValues",
  "NumberOfNumericFeatures",
  "NumberOfSymbolicFeatures",
  "MajorityClassSize",
  "MaxNominalAttDistinctValues",
  "MinorityClassSize",
  "NumBinaryAtts",
];

/** Legacy's list of so many datasets, in both of its forms; `brokenJson` has a quote in a name, as legacy would send it. */
export const datasetList = (rows: number): { json: string; brokenJson: string; xml: string } => {
  const ids = Array.from({ length: rows }, (_, index) => index + 1);
  const json = JSON.stringify({
    data: {
      dataset: ids.map((id) => ({
        did: id,
        name: `dataset_${id}`,
        version: 1,
        status: "active",
        format: "ARFF",
        md5_checksum: "",
        file_id: id,
        quality: QUALITIES.map((name) => ({ name, value: "898.0" })),
      })),
    },
  });
  const described = ids.map(
    (id) =>
      `<oml:dataset><oml:did>${id}</oml:did><oml:name>dataset_${id}</oml:name><oml:version>1</oml:version><oml:status>active</oml:status><oml:format>ARFF</oml:format><oml:md5_checksum></oml:md5_checksum><oml:uploader>1</oml:uploader><oml:file_id>${id}</oml:file_id>${QUALITIES.map((name) => `<oml:quality name="${name}">898.0</oml:quality>`).join("")}</oml:dataset>`,
  );
  return {
    json,
    brokenJson: json.replace("dataset_5", 'data"set'),
    xml: `<oml:data xmlns:oml="http://openml.org/openml">${described.join("")}</oml:data>`,
  };
};

/** A list of 16 MB that is read quickly: more than the buffers of both ends of a connection take. */
export const listOfLongNames = (): string => {
  const name = "n".repeat(100_000);
  const row = (id: number) => ({
    did: id,
    name,
    version: 1,
    status: "active",
    format: "ARFF",
    file_id: id,
    quality: [],
  });
  return JSON.stringify({ data: { dataset: Array.from({ length: 160 }, (_, index) => row(index + 1)) } });
};
