import {
  causeOf,
  type Classification,
  type Difference,
  type DifferenceKind,
} from "../../../../src/compare/difference.ts";
import type { Cause, CurlPair, Report, ReportedDifference, Summary } from "../../../../src/compare/report.ts";
import { sampleCoverage, sampleSchemaDrift } from "./sampleCoverage.ts";
import { sampleExamples } from "./sampleExamples.ts";

/** How large a sample is; rows are those of the largest examples. */
type SampleSize = { differences: number; examples: number; rows: number; unexplained: number };

const usual: SampleSize = { differences: 60, examples: 14, rows: 60, unexplained: 3 };

const sides = { legacy: "https://legacy.example", candidate: "https://candidate.example" };

/** Endpoint, a path to ask for, and how many answers were compared. */
const asked: readonly (readonly [endpoint: string, target: string, compared: number])[] = [
  ["getDataset", "/datasets/61", 512],
  ["listDatasets", "/datasets/list", 240],
  ["getSetup", "/setup/7", 160],
  ["getStudy", "/studies/100", 96],
  ["findFlow", "/flow/exists/sample.ZeroRule/Sample_1.0", 88],
  ["listEstimationProcedures", "/estimationprocedure/list", 12],
  ["listEvaluationMeasures", "/evaluationmeasures/list", 12],
  ["tagDataset", "/datasets/tag", 44],
  ["untagDataset", "/datasets/untag", 40],
];

const curlOf = (endpoint: string, id: number): CurlPair => {
  const target = (asked.find(([name]) => name === endpoint)?.[1] ?? "/datasets/1").replace(/\d+$/, String(id));
  return {
    legacy: `curl -s '${sides.legacy}/api/v1/json${target}?api_key='"$LEGACY_KEY"`,
    candidate: `curl -s '${sides.candidate}/v1${target}' -H "X-API-Key: $CANDIDATE_KEY"`,
  };
};

type Scene = Pick<Difference, "path" | "form" | "rule" | "legacy" | "expected"> & { endpoint: string };

const scene = (
  endpoint: string,
  path: string,
  form: DifferenceKind,
  rule: string,
  legacy: Difference["legacy"],
  expected: Difference["expected"],
): Scene => ({ endpoint, path, form, rule, legacy, expected });

const scenes: readonly Scene[] = [
  scene("getDataset", "/id", "type", "integer", "61", 61),
  scene("getDataset", "/version", "type", "integer", "1", 1),
  scene("getDataset", "/creator", "type", "commaSeparated", "R.A. Fisher, 'Marshall, M.'", [
    "R.A. Fisher",
    "Marshall, M.",
  ]),
  scene("getDataset", "/format", "value", "lowercase", "Sparse_ARFF", "sparse_arff"),
  scene("getDataset", "/citation", "extra", "nullable", undefined, null),
  scene("getDataset", "/processing_date", "value", "timestamp", "2021-04-04 04:04:04", "2021-04-04T04:04:04"),
  scene("getDataset", "/tag", "type", "list", "flowers", ["flowers"]),
  scene(
    "getDataset",
    "",
    "value",
    "unwrapped",
    `{"data_set_description":{"id":"61","name":"iris"…`,
    `{"id":61,"name":"iris"…`,
  ),
  scene("listDatasets", "/*/did", "type", "integer", "2", 2),
  scene("listDatasets", "/*/quality/*/value", "type", "number", "898.0", 898),
  scene("listDatasets", "/*/quality/*/value", "type", "number", "NaN", null),
  scene("listDatasets", "/*/md5_checksum", "missing", "dropped", "0a1b2c3d4e5f60718293a4b5c6d7e8f9", undefined),
  scene("listDatasets", "status", "status", "error 372: noResults", 412, 404),
  scene("getSetup", "/parameter/*/default_value", "type", "nullable", [], null),
  scene("getSetup", "/setup_id", "type", "integer", "7", 7),
  scene("getStudy", "/task_ids", "moved", "unwrapped", { task_id: ["1", "2"] }, ["1", "2"]),
  scene(
    "getStudy",
    "/description",
    "value",
    "markup",
    "<p>All of <b>them</b> | `really`</p>",
    "All of them | `really`",
  ),
  scene("findFlow", "/flow_id", "moved", "renamed", "5", "5"),
  scene("listEstimationProcedures", "/*/stratified_sampling", "type", "boolean", "true", true),
  scene("listEvaluationMeasures", "/*", "order", "list", ["recall", "auc"], ["auc", "recall"]),
  scene("tagDataset", "/tag", "type", "list", "mine", ["mine"]),
];

const unexplainedScenes: readonly ReportedDifference[] = [
  {
    ...scene("getDataset", "/collection_date", "value", "nullable + text", "1936", "1936"),
    candidate: 1936,
    kind: "unexplained",
    count: 2,
    answers: 2,
    curl: curlOf("getDataset", 61),
  },
  {
    ...scene("listDatasets", "/*/status", "missing", "text", "active", "active"),
    kind: "unexplained",
    count: 41,
    answers: 1,
    curl: curlOf("listDatasets", 1),
  },
  {
    ...scene("getStudy", "/name", "type", "nullable + text", "</script><!-- a name -->", "</script><!-- a name -->"),
    candidate: ["</script><!-- a name -->"],
    kind: "unexplained",
    count: 1,
    answers: 1,
    curl: curlOf("getStudy", 100),
  },
];

const kinds: readonly Classification[] = [
  "explained",
  "explained",
  "explained",
  "explained",
  "expected",
  "explained",
  "drift",
];

const differenceAt = (i: number, unexplained: number): ReportedDifference => {
  const ready = i < unexplained ? unexplainedScenes[i] : undefined;
  if (ready) return ready;
  const isUnexplained = i < unexplained;
  const from = scenes[i % scenes.length] as Scene;
  const round = Math.floor(i / scenes.length);
  const kind = isUnexplained ? "unexplained" : (kinds[(i + round) % kinds.length] as Classification);
  return {
    ...from,
    path: round === 0 || !from.path.startsWith("/") ? from.path : `${from.path}/part_${round}`,
    kind,
    ...(kind === "expected" ? { entry: `null-not-absent-${(i % 4) + 1}` } : {}),
    ...(kind === "explained" ? {} : { candidate: kind === "drift" ? "newer" : null }),
    count: 1 + ((i * 37) % 900),
    answers: 1 + ((i * 17) % 300),
    curl: curlOf(from.endpoint, i + 1),
  };
};

const causesOf = (differences: readonly ReportedDifference[]): Cause[] =>
  Object.values(Object.groupBy(differences, (one) => JSON.stringify([one.kind, causeOf(one)])))
    .map((alike = []) => {
      const [first] = alike as [ReportedDifference];
      return {
        kind: first.kind,
        name: causeOf(first),
        fields: alike.reduce((sum, { count }) => sum + count, 0),
        answers: Math.max(...alike.map(({ answers }) => answers)),
        endpoints: [...new Set(alike.map(({ endpoint }) => endpoint))],
        curl: first.curl,
      };
    })
    .toSorted((a, b) => b.answers - a.answers);

const summariesOf = (differences: readonly ReportedDifference[]): Record<string, Summary> =>
  Object.fromEntries(
    asked.map(([endpoint, , compared], i) => {
      const own = differences.filter((one) => one.endpoint === endpoint && one.kind === "unexplained");
      const unexplained = Math.min(
        compared - 12,
        own.reduce((sum, { answers }) => sum + answers, 0),
      );
      const [failed, drift, expected] = [i === 0 ? 2 : 0, i % 3 === 1 ? 4 : 0, i % 2 === 0 ? 6 : 0];
      const equal = Math.floor((compared - unexplained - drift - expected) * ((i % 4) / 5));
      const explained = compared - unexplained - drift - expected - equal;
      return [endpoint, { compared, equal, explained, expected, drift, unexplained, failed }];
    }),
  );

const totalOf = (summaries: readonly Summary[]): Summary => {
  const total = { compared: 0, equal: 0, explained: 0, expected: 0, drift: 0, unexplained: 0, failed: 0 };
  for (const one of summaries) for (const key of Object.keys(total) as (keyof Summary)[]) total[key] += one[key];
  return total;
};

/** An invented report of a common shape, the same at every call. */
export const sampleReport = (size: Partial<SampleSize> = {}): Report => {
  const { differences: count, examples, rows, unexplained } = { ...usual, ...size };
  const differences = Array.from({ length: count }, (_, i) => differenceAt(i, unexplained));
  const endpoints = summariesOf(differences);
  return {
    made: "2026-11-21T07:36:45.120Z",
    sides,
    summary: totalOf(Object.values(endpoints)),
    endpoints,
    statuses: [
      { endpoint: "getDataset", from: 200, to: 200, answers: 500 },
      { endpoint: "getDataset", from: 404, to: 404, answers: 12 },
      { endpoint: "listDatasets", from: 200, to: 200, answers: 240 },
    ],
    latency: [
      { endpoint: "getDataset", side: "legacy", p50: 41.2, p95: 180.4, total: 30_120.5 },
      { endpoint: "getDataset", side: "candidate", p50: 3.1, p95: 9.8, total: 2210.25 },
    ],
    differences,
    causes: causesOf(differences),
    failures: [
      { endpoint: "getDataset", why: "legacy: no answer within 10 s", count: 2, curl: curlOf("getDataset", 150) },
    ],
    examples: sampleExamples(examples, rows, curlOf),
    coverage: sampleCoverage,
    schemaDrift: sampleSchemaDrift,
    skipped: { "a write: not asked again": 31, "no endpoint has this path": 7 },
  };
};
