import { expect, test } from "vitest";
import type { Difference } from "../../src/compare/difference.ts";
import { reportOf } from "../../src/compare/tally.ts";
import { type ComparisonOutcome, openTally, type TallyState } from "../../src/compare/tally.ts";
import { endpoints } from "./documents.ts";

const different = (path: string, kind: Difference["kind"], more: Partial<Difference> = {}): Difference => ({
  path,
  at: path,
  form: "value",
  kind,
  count: 2,
  ...more,
});
const outcome = (differences: Difference[], rows = 1): ComparisonOutcome => ({
  endpoint: "getDataset",
  curl: { candidate: `curl ${differences.length}` },
  differences,
  example: () => ({
    question: "q",
    left: { title: "l" },
    right: { title: "r" },
    rows: Array.from({ length: rows }, () => ({ depth: 0, name: "x".repeat(100) })),
  }),
});

const report = (state: TallyState) =>
  reportOf(state, {
    made: "2026-11-21T00:00:00.000Z",
    sides: { legacy: "http://legacy.example" },
    skipped: {},
    endpoints,
  });

test("an answer counts once, by its worst difference; fields are counted each", () => {
  const tally = openTally();
  tally.add(outcome([]));
  tally.add(outcome([different("/a", "explained", { rule: "integer" })]));
  tally.add(outcome([different("/a", "explained", { rule: "integer" }), different("/b", "expected", { entry: "e" })]));
  tally.add(outcome([different("/b", "drift"), different("/a", "explained", { rule: "integer" })]));
  tally.add(outcome([different("/b", "unexplained"), different("/b", "drift")]));
  tally.add({ endpoint: "getStudy", curl: { candidate: "c" }, failed: "it broke" });
  const { summary, endpoints: by, differences, causes, failures } = report(tally.state);
  expect(summary).toEqual({ compared: 5, equal: 1, explained: 1, expected: 1, drift: 1, unexplained: 1, failed: 1 });
  expect(by["getStudy"]).toEqual({
    compared: 0,
    equal: 0,
    explained: 0,
    expected: 0,
    drift: 0,
    unexplained: 0,
    failed: 1,
  });
  expect(tally.unexplained()).toBe(1);
  expect(differences.map(({ path, kind, count, answers }) => [path, kind, count, answers])).toEqual([
    ["/b", "unexplained", 2, 1],
    ["/b", "drift", 4, 2],
    ["/b", "expected", 2, 1],
    ["/a", "explained", 6, 3],
  ]);
  expect(causes.map(({ kind, name, fields, answers }) => [kind, name, fields, answers])).toEqual([
    ["unexplained", "value at /b", 2, 1],
    ["drift", "value at /b", 4, 2],
    ["expected", "e", 2, 1],
    ["explained", "integer", 6, 3],
  ]);
  expect(failures).toEqual([{ endpoint: "getStudy", why: "it broke", count: 1, curl: { candidate: "c" } }]);
});

test("one who goes on from what was written counts as if never stopped", () => {
  const outcomes = Array.from({ length: 40 }, (_, i) =>
    outcome([different(`/${i % 7}`, i % 3 === 0 ? "unexplained" : "explained", { rule: `r${i % 2}` })]),
  );
  const whole = openTally();
  for (const one of outcomes) whole.add(one);
  const first = openTally();
  for (const one of outcomes.slice(0, 17)) first.add(one);
  const second = openTally(JSON.parse(JSON.stringify(first.state)) as TallyState);
  for (const one of outcomes.slice(17)) second.add(one);
  expect(report(second.state)).toEqual(report(whole.state));
});

test("a candidate that invents paths and huge answers does not fill the memory", () => {
  const tally = openTally();
  for (let i = 0; i < 5000; i++) tally.add(outcome([different(`/invented-${i}`, "unexplained")], 100));
  const { differences, examples, summary } = report(tally.state);
  expect(summary.unexplained).toBe(5000);
  expect(differences.length).toBe(1001);
  expect(differences.reduce((sum, { count }) => sum + count, 0)).toBe(10_000);
  expect(differences[0]?.path).toBe("(other paths)");
  expect(JSON.stringify(examples).length).toBeLessThan(9 * 1024 ** 2);
});

test("the same request is shown once among the examples", () => {
  const tally = openTally();
  for (const path of ["/a", "/b", "/c"]) tally.add(outcome([different(path, "unexplained")]));
  expect(tally.state.examples).toHaveLength(1);
  const continued = openTally(structuredClone(tally.state));
  continued.add(outcome([different("/d", "unexplained")]));
  expect(continued.state.examples).toHaveLength(1);
});

test("statuses are counted in pairs, and latencies by side", () => {
  const tally = openTally();
  const answered = (statuses: [number, number], ms: { legacy?: number; candidate?: number }) =>
    tally.add({ ...outcome([]), answers: { statuses, ms } });
  for (let i = 1; i <= 100; i++) answered([200, 200], { legacy: i, candidate: 1 });
  answered([404, 404], { legacy: 1e9 });
  answered([404, 200], {});
  const { statuses, latency } = report(tally.state);
  expect(statuses.map(({ from, to, answers }) => [from, to, answers])).toEqual([
    [200, 200, 100],
    [404, 404, 1],
    [404, 200, 1],
  ]);
  expect(latency.map(({ side }) => side)).toEqual(["legacy", "candidate"]);
  expect(latency[0]?.p50).toBeGreaterThan(51 / 1.06);
  expect(latency[0]?.p50).toBeLessThan(51 * 1.06);
  expect(latency[0]?.p95).toBeGreaterThan(96 / 1.06);
  expect(latency[0]?.total).toBe(5050 + 1e9);
  expect(latency[1]).toMatchObject({ endpoint: "getDataset", total: 100 });
});
