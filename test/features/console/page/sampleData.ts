import type { StageName } from "../../../../src/features/migration/stage.ts";
import type { DifferenceView, Parity, StageView } from "../../../../src/features/migration/views.ts";
import type { SampleData } from "./sampleConsole.ts";

export const sampleNow = new Date("2026-11-21T09:30:00Z");

const ago = (minutes: number): string => new Date(sampleNow.getTime() - minutes * 60_000).toISOString();

type Given = Partial<StageView> & { stage: StageName };

const parityOf = (given: Partial<Parity>): Parity => ({
  compared: 0,
  equal: 0,
  explained: 0,
  expected: 0,
  drift: 0,
  unexplained: 0,
  comparisons: 0,
  lower: 0,
  ...given,
});

const stageView = ({ stage, ...given }: Given, i: number): StageView => ({
  stage,
  share: 100,
  since: ago(60 * 24 * 3),
  by: "configuration",
  why: "",
  parity: parityOf({}),
  parityInStage: parityOf({}),
  rate: 0.4,
  hitRatio: 0.83,
  latency: { legacy: { p50: 118, p95: 486 }, modern: undefined },
  errorRate: 0,
  spark: Array.from({ length: 60 }, (_, at) =>
    Math.round(14 + 9 * Math.sin((at + 7 * i) / (5 + i)) + 4 * Math.sin(at * (i + 2))),
  ),
  ...given,
});

const difference = (given: Partial<DifferenceView>): DifferenceView => ({
  endpoint: "getDataset",
  path: "/format",
  kind: "unexplained",
  form: "value",
  rule: "lowercase",
  cause: "value, where the rule is lowercase",
  count: 41,
  answers: 41,
  samples: [
    {
      at: ago(4),
      question: "GET /datasets/61",
      legacy: "Sparse_ARFF",
      expected: "sparse_arff",
      candidate: "Sparse_arff",
      curl: {
        legacy: "curl 'https://legacy.example/api/v1/json/data/61'",
        candidate: "curl 'https://modern.example/datasets/61'",
      },
    },
  ],
  ...given,
});

/** What an operator may see some days into a migration; all of it invented. */
export const sampleData = (): SampleData => ({
  hasModern: true,
  stages: Object.fromEntries(
    (
      [
        [
          "getDataset",
          {
            stage: "canary",
            share: 5,
            since: ago(47),
            by: "Ada",
            why: "no unexplained difference for a day",
            rate: 12.41,
            parity: {
              comparisons: 9120,
              compared: 1204,
              equal: 820,
              explained: 327,
              expected: 12,
              drift: 4,
              unexplained: 41,
              lower: 0.9537,
            },
            latency: { legacy: { p50: 118, p95: 486 }, modern: { p50: 31, p95: 96 } },
            errorRate: 0.002,
            against: "41 of 1,200 compared requests unexplained (parity 96.5 %, at least 95.3 %)",
            gate: { parity: 0.99, requests: 500, minutes: 10, errorRate: 0.01, p95: 2000, hold: 30 },
            gateSays: "held: parity at least 95.37 %, needed 99.00 %",
            isGateFailing: true,
          },
        ],
        [
          "listDatasets",
          {
            stage: "shadow",
            share: 20,
            since: ago(60 * 26),
            by: "Ada",
            why: "first look",
            rate: 4.02,
            hitRatio: 0.41,
            parity: {
              comparisons: 411,
              compared: 310,
              equal: 301,
              explained: 0,
              expected: 3,
              drift: 4,
              unexplained: 2,
              lower: 0.976,
            },
            latency: { legacy: { p50: 240, p95: 1480 }, modern: { p50: 88, p95: 340 } },
          },
        ],
        [
          "getStudy",
          {
            stage: "modern",
            share: 1,
            since: ago(60 * 24 * 9),
            by: "gate",
            why: "parity 99.9 % in 5,210 answers",
            rate: 1.2,
            parity: {
              comparisons: 5210,
              compared: 5210,
              equal: 5100,
              explained: 110,
              expected: 0,
              drift: 0,
              unexplained: 0,
              lower: 0.9992,
            },
            latency: { legacy: { p50: 95, p95: 210 }, modern: { p50: 22, p95: 61 } },
          },
        ],
        ["getSetup", { stage: "legacy", rate: 0.12, hitRatio: 0.96 }],
        [
          "findFlow",
          {
            stage: "legacy",
            rate: 0,
            hitRatio: 0,
            latency: { legacy: undefined, modern: undefined },
            spark: Array.from({ length: 60 }, () => 0),
          },
        ],
      ] as [string, Given][]
    ).map(([name, given], i) => [name, stageView(given, i)]),
  ),
  differences: [
    difference({}),
    difference({
      path: "/tag",
      form: "order",
      rule: "list",
      cause: "order, where the rule is list",
      count: 9,
      answers: 9,
      samples: [
        {
          at: ago(12),
          question: "GET /datasets/2",
          legacy: ["study_14", "flowers"],
          expected: ["study_14", "flowers"],
          candidate: ["flowers", "study_14"],
          curl: {
            legacy: "curl 'https://legacy.example/api/v1/json/data/2'",
            candidate: "curl 'https://modern.example/datasets/2'",
          },
        },
      ],
    }),
    difference({
      endpoint: "listDatasets",
      path: "/*/format",
      count: 2,
      answers: 2,
      samples: [
        {
          at: ago(30),
          question: "POST /datasets/list",
          legacy: "ARFF",
          expected: "arff",
          candidate: "ARFF",
          curl: {
            legacy: "curl 'https://legacy.example/api/v1/json/data/list/limit/5'",
            candidate: `curl 'https://modern.example/datasets/list' -H 'Content-Type: application/json' -d '{"pagination": {"limit": 5}}'`,
          },
        },
      ],
    }),
    difference({
      endpoint: "listDatasets",
      path: "/*/quality",
      kind: "drift",
      form: "value",
      rule: undefined,
      cause: "value at /*/quality",
      count: 18,
      answers: 4,
      samples: [],
    }),
    difference({
      path: "/citation",
      kind: "expected",
      form: "missing",
      rule: "nullable",
      entry: "citations-later",
      cause: "citations-later",
      count: 12,
      answers: 12,
      samples: [
        {
          at: ago(3),
          question: "GET /datasets/44",
          legacy: "Fisher, R.A. (1936)",
          expected: "Fisher, R.A. (1936)",
          curl: { candidate: "curl 'https://modern.example/datasets/44'" },
        },
      ],
    }),
    difference({
      path: "/id",
      kind: "explained",
      form: "type",
      rule: "integer",
      cause: "integer",
      count: 1204,
      answers: 1204,
      samples: [
        {
          at: ago(1),
          question: "GET /datasets/61",
          legacy: "61",
          expected: 61,
          candidate: 61,
          curl: { candidate: "curl 'https://modern.example/datasets/61'" },
        },
      ],
    }),
  ],
  audit: [
    {
      at: ago(47),
      endpoint: "getDataset",
      by: "Ada",
      why: "no unexplained difference for a day",
      from: { stage: "shadow", share: 100 },
      to: { stage: "canary", share: 5 },
    },
    {
      at: ago(60 * 26),
      endpoint: "listDatasets",
      by: "Ada",
      why: "first look",
      from: { stage: "legacy", share: 100 },
      to: { stage: "shadow", share: 20 },
    },
    {
      at: ago(60 * 24 * 9),
      endpoint: "getStudy",
      by: "gate",
      why: "parity 99.9 % in 5,210 answers",
      from: { stage: "canary", share: 100 },
      to: { stage: "modern", share: 1 },
    },
  ],
  clients: [
    {
      caller: "9f2c61ab",
      agent: "sample-client/0.14.2 (Python 3.12)",
      path: "/api/v1",
      count: 18_230,
      first: ago(60 * 24 * 12),
      last: ago(0.2),
    },
    {
      caller: "nobody",
      agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
      path: "/api/v1/json",
      count: 412,
      first: ago(60 * 24 * 4),
      last: ago(31),
    },
    { caller: "17e0d4b8", agent: "", path: "/old/search", count: 3, first: ago(60 * 30), last: ago(60 * 28) },
  ],
  expected: [
    {
      id: "citations-later",
      endpoint: "getDataset",
      path: "/citation",
      kind: "missing",
      reason: "Citations are moved in the spring.",
      owner: "Grace",
      until: "2027-03-31",
      link: "https://issues.example/12",
    },
    {
      id: "old-order",
      endpoint: "*",
      path: "/**",
      kind: "order",
      reason: "Orders were not kept before the index was rebuilt.",
      owner: "Ada",
      until: "2026-10-01",
    },
  ],
  cache: {
    bound: { bytes: 67_108_864, entryBytes: 8_388_608 },
    bytes: 21_403_648,
    entries: 8123,
    evicted: 42,
    shared: "in step",
    windows: {
      getDataset: { fresh: "10m", stale: "1h", staleIfError: "7d", absent: "60s", unready: "15s" },
      listDatasets: { fresh: "1m", stale: "1h", staleIfError: "1h" },
    },
    privateRows: {
      state: "scanning",
      rows: 214,
      hidden: 3,
      at: 17_605,
      lastId: 46_100,
      calls: 13_911,
      kept: "directory",
      scansHere: true,
    },
  },
});
