import { expect, test } from "vitest";
import type { Difference } from "../../../libraries/compare/difference.ts";
import { MAX_COMPARED } from "../../../features/migration/comparedRequests.ts";
import { openDifferences } from "../../../features/migration/differences.ts";

/** A compared answer that has a colour too many at each of these paths. */
const coloured = (id: string, paths: readonly string[], endpoint = "getDataset") => ({
  id,
  endpoint,
  question: `GET ${id}`,
  at: "2026-11-24T10:00:00.000Z",
  differences: paths.map((path): Difference => ({
    at: path,
    path,
    kind: "unexplained",
    form: "extra",
    candidate: "red",
    count: 1,
    cause: "",
  })),
  curl: () => ({ candidate: "curl" }),
});

test("each request counts once, and samples are of different requests", () => {
  const reported: string[] = [];
  const differences = openDifferences(({ path }) => void reported.push(path));
  for (let i = 0; i < 534; i++) differences.add(coloured("/datasets/1", ["/colour"]));
  for (const id of [2, 3]) differences.add(coloured(`/datasets/${id}`, ["/colour"]));
  const [found] = differences.view("unexplained");
  expect([found?.requests, reported]).toEqual([3, ["/colour"]]);
  expect(found?.samples.map(({ question }) => question)).toEqual([1, 2, 3].map((id) => `GET /datasets/${id}`));
});

test("a request with a cause at many paths counts once; endpoints are added up", () => {
  const differences = openDifferences();
  differences.add(coloured("/datasets/1", ["/colour", "/creator/*/colour"]));
  differences.add(coloured("/datasets/2", ["/creator/*/colour"]));
  differences.add(coloured("/studies/1", ["/colour"], "getStudy"));
  expect(
    differences
      .view("unexplained")
      .map(({ endpoint, path, ...counts }) => [endpoint, path, counts.requests, counts.causeRequests]),
  ).toEqual([
    ["getDataset", "/creator/*/colour", 2, 3],
    ["getDataset", "/colour", 1, 3],
    ["getStudy", "/colour", 1, 3],
  ]);
});

test("the latest requests count, in memory that does not grow", () => {
  const differences = openDifferences();
  const isOdd = (i: number) => i % 2 === 1;
  differences.add(coloured("/datasets/first", ["/only"]));
  for (let i = 0; i < 2 * MAX_COMPARED; i++)
    differences.add(coloured(`/datasets/${i}`, isOdd(i) ? ["/colour", "/shade"] : ["/shade"]));
  const shown = () => differences.view("unexplained").map(({ path, requests }) => [path, requests]);
  expect(shown()).toEqual([
    ["/shade", MAX_COMPARED],
    ["/colour", MAX_COMPARED / 2],
  ]);
  expect(differences.view("unexplained").map(({ samples }) => samples.length)).toEqual([5, 5]);
  // The request of the latest comparison is forgotten last.
  differences.add(coloured(`/datasets/${MAX_COMPARED}`, ["/latest"]));
  differences.add(coloured("/datasets/new", ["/shade"]));
  expect(shown()).toEqual(
    expect.arrayContaining([
      ["/latest", 1],
      ["/colour", MAX_COMPARED / 2 - 1],
    ]),
  );
});
