import { describe, expect, test } from "vitest";
import type { CorpusRequest } from "../../../tools/corpus/corpusRequest.ts";
import { sampleRequests } from "../../../tools/corpus/sampleRequests.ts";

const ask = (endpoint: string, id: number | string, more: Partial<CorpusRequest> = {}): CorpusRequest => ({
  endpoint,
  method: "GET",
  path: `/${endpoint}/${id}`,
  keyed: false,
  status: 200,
  shape: "id=number",
  ...more,
});
const each = async function* (requests: Iterable<CorpusRequest>) {
  yield* requests;
};
const sampled = (requests: Iterable<CorpusRequest>, limit: number) => sampleRequests(each(requests), limit);
const many = (endpoint: string, count: number, more: Partial<CorpusRequest> = {}) =>
  Array.from({ length: count }, (_, i) => ask(endpoint, i, more));
const stratum = ({ endpoint, status, keyed, shape }: CorpusRequest) => JSON.stringify([endpoint, status, keyed, shape]);

describe("with a limit", () => {
  const requests = [
    ...many("common", 50_000),
    ...many("common", 3000, { status: 404 }),
    ...many("common", 400, { keyed: true }),
    ask("common", "x", { status: 422, shape: "id=bad" }),
    ...many("rare", 2),
  ];

  test("a sample has every stratum, the rarest first, and no request twice", async () => {
    const sample = await sampled([...requests, ...requests], 20);
    expect(sample).toHaveLength(20);
    expect(sample.slice(0, 5).map(stratum)).toEqual(
      [
        ask("common", "", { status: 422, shape: "id=bad" }),
        ask("rare", ""),
        ask("", "", { endpoint: "common", keyed: true }),
        ask("common", "", { status: 404 }),
        ask("common", ""),
      ].map(stratum),
    );
    const counts = Object.values(Object.groupBy(sample, stratum)).map((all) => all?.length ?? 0);
    expect(counts.toSorted((a, b) => a - b)).toEqual([1, 2, 5, 6, 6]);
    expect(new Set(sample.map((request) => `${request.path} ${request.keyed}`)).size).toBe(20);
  });

  test("a sample takes late requests too, and is always the same", async () => {
    const sample = await sampled(many("a", 100_000), 100);
    const late = sample.filter(({ path }) => Number(path.slice(3)) >= 50_000);
    expect(late.length).toBeGreaterThan(0);
    expect(late.length).toBeLessThan(sample.length);
    expect(await sampled(many("a", 100_000), 100)).toEqual(sample);
  });

  test("a sample of fewer requests than its limit has each of them once", async () => {
    expect(await sampled([ask("a", 1), ask("a", 1), ask("a", 2)], 10)).toHaveLength(2);
    expect(await sampled(requests, 0)).toEqual([]);
    expect(await sampled([], 5)).toEqual([]);
  });

  test("a sample has a request with two statuses once", async () => {
    const sample = await sampled([ask("a", 1), ask("a", 1, { status: 404 }), ask("a", 2)], 5);
    expect(sample.map(({ path }) => path).toSorted()).toEqual(["/a/1", "/a/2"]);
  });

  test("a sample has rare requests, though a scanner invents shapes", async () => {
    const odd = Array.from({ length: 30_000 }, (_, i) => ask("scanned", i, { shape: `x${i}`, status: 422 }));
    const sample = await sampled([...many("few", 3), ...odd, ask("late", 1)], 100);
    expect(new Set(sample.map(({ endpoint }) => endpoint))).toContain("late");
    expect(sample).toHaveLength(100);
  });
});
