/** A legacy dataset description of about 3 KB. */
export const datasetBody = (): Buffer =>
  Buffer.from(
    JSON.stringify({
      data_set_description: {
        id: "301",
        name: "bench_set",
        version: "2",
        description: "A description as long as many are, about what was measured and how. ".repeat(30),
        description_version: "4",
        format: "ARFF",
        creator: ["Ada A.", "Bob B."],
        contributor: "Cy C.",
        collection_date: "1990",
        upload_date: "2020-05-06T07:08:09",
        language: "English",
        licence: "Public",
        url: "https://legacy.example/data/v1/download/301/bench_set.arff",
        parquet_url: "https://files.example/datasets/0000/0301/dataset_301.pq",
        file_id: "301",
        default_target_attribute: "class",
        ignore_attribute: ["first", "second"],
        tag: ["bench", "many", "study_14", "uci"],
        visibility: "public",
        original_data_url: "https://archive.example/sets/bench",
        status: "active",
        processing_date: "2021-04-04 04:04:04",
        md5_checksum: "00000000000000000000000000000301",
      },
    }),
  );

/** A legacy study of about 3 KB, for requests by any alias: the answer to a request by an id must have that id. */
export const studyBody = (): Buffer =>
  Buffer.from(
    JSON.stringify({
      study: {
        id: "301",
        alias: "bench-study",
        main_entity_type: "task",
        name: "Bench study",
        description: "A description as long as many are, about what was measured and how. ".repeat(30),
        visibility: "public",
        status: "active",
        creation_date: "2020-05-06 07:08:09",
        creator: "1",
        data: { data_id: ["61", "301"] },
        tasks: { task_id: ["1", "59"] },
        flows: [],
        setups: [],
        runs: [],
      },
    }),
  );

const qualities = [
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
];

/** A legacy dataset list in the layout of its template; by default about 200 KB. */
export const listBody = (rows = 263): Buffer => {
  const dataset = (i: number) =>
    `{"did":${300 + i},\n   "name":"bench_set_${i}",\n   "version":1,\n   "status":"active",\n   "format":"ARFF",\n   "md5_checksum":"",\n      "file_id": ${300 + i},\n      "quality":[\n        ${qualities
      .map((name, k) => `{"name":"${name}",\n     "value":"${i * 7 + k}.0"\n    }`)
      .join("\n    ,    ")}\n        ]\n      }\n`;
  return Buffer.from(
    `{"data":{"dataset":[\n    ${Array.from({ length: rows }, (_, i) => dataset(i)).join("  ,  ")}    ]}\n}\n`,
  );
};
