import type { CurlPair, ExampleAnswer, Row } from "../../../../src/compare/report.ts";

const changed = (
  depth: number,
  name: string,
  left: string | undefined,
  right: string | undefined,
  form: Row["form"],
  rules: string[],
  kind: Row["kind"] = "explained",
): Row => ({
  depth,
  name,
  ...(left === undefined ? {} : { left }),
  ...(right === undefined ? {} : { right }),
  form,
  kind,
  rules,
});

const same = (depth: number, name: string, value: string): Row => ({ depth, name, left: value, right: value });

const quality = (i: number): Row[] => [
  { depth: 1, name: String(i) },
  same(2, "name", `"NumberOfFeaturesOfKind${i}"`),
  changed(2, "value", `"${i * 7}.0"`, String(i * 7), "type", ["number"]),
];

const datasetRows = (id: number, length: number): Row[] => {
  const head: Row[] = [
    changed(0, "id", `"${id}"`, String(id), "type", ["integer"]),
    same(0, "name", `"iris"`),
    changed(0, "version", `"1"`, "1", "type", ["integer"]),
    changed(0, "creator", `"R.A. Fisher, 'Marshall, M.'"`, `["R.A. Fisher","Marshall, M."]`, "type", [
      "commaSeparated",
    ]),
    changed(0, "format", `"ARFF"`, `"arff"`, "value", ["lowercase"]),
    { depth: 0, name: "tag", form: "order", kind: "expected", rules: ["list"] },
    same(1, "0", `"flowers"`),
    same(1, "1", `"study_10"`),
    changed(0, "citation", undefined, "null", "extra", ["nullable"]),
    changed(0, "processing_date", `"2021-04-04 04:04:04"`, `"2021-04-04T04:04:04"`, "value", ["timestamp", "nullable"]),
    changed(0, "md5_checksum", `"0a1b2c3d4e5f60718293a4b5c6d7e8f9"`, undefined, "missing", ["dropped"]),
    same(0, "licence", `"Public"`),
    same(
      0,
      "description",
      `"The iris data: 150 flowers of three species, each with the length and the width of its sepals and petals. </noscript><script>alert(1)</script>…"`,
    ),
    { depth: 0, name: "quality" },
  ];
  const entries = Array.from({ length: Math.ceil(Math.max(0, length - head.length - 1) / 3) }, (_, i) => quality(i));
  return [...head, ...entries.flat(), { depth: 1, name: "", omitted: 97 }];
};

const judgedRows: Row[] = [
  same(0, "id", "61"),
  changed(0, "collection_date", `"1936"`, "1936", "type", ["nullable", "text"], "unexplained"),
  changed(0, "update_comment", `null`, `"newer"`, "type", ["nullable"], "drift"),
  same(0, "name", `"iris"`),
];

/** So many examples of several endpoints; every fourth is as long as `rows`. */
export const sampleExamples = (
  count: number,
  rows: number,
  curlOf: (endpoint: string, id: number) => CurlPair,
): ExampleAnswer[] =>
  Array.from({ length: count }, (_, i): ExampleAnswer => {
    const endpoint = ["getDataset", "listDatasets", "getStudy"][i % 3] as string;
    const isJudged = i % 5 === 1;
    const isEqual = i % 7 === 6;
    return {
      endpoint,
      question: i % 3 === 1 ? `POST /datasets/list {"number_instances":"100..${i}"}` : `GET /datasets/${i + 61}`,
      result: isEqual ? "equal" : isJudged ? "unexplained" : "explained",
      left: { title: isJudged ? "Expected" : "Legacy", status: 200 },
      right: { title: isJudged ? "Candidate" : "Ours", status: 200 },
      rows: isEqual
        ? judgedRows.filter(({ form }) => form === undefined)
        : isJudged
          ? judgedRows
          : datasetRows(i + 61, i % 4 === 0 ? rows : Math.min(rows, 40)),
      curl: curlOf(endpoint, i + 61),
    };
  });
