import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CorpusRequest } from "../../../src/tools/corpus/corpusRequest.ts";
import { levelOf, openStrata, sampleRequests } from "../../../src/tools/corpus/sample.ts";

const ask = (endpoint: string, id: number | string, more: Partial<CorpusRequest> = {}): CorpusRequest => ({
  endpoint,
  method: "GET",
  path: `/${endpoint}/${id}`,
  keyed: false,
  status: 200,
  shape: "id=number",
  ...more,
});
const sampled = (requests: Iterable<CorpusRequest>, limit?: number) => Array.fromAsync(sampleRequests(requests, limit));
const many = (endpoint: string, count: number, more: Partial<CorpusRequest> = {}) =>
  Array.from({ length: count }, (_, i) => ask(endpoint, i, more));
const stratum = ({ endpoint, status, keyed, shape }: CorpusRequest) => JSON.stringify([endpoint, status, keyed, shape]);

test("without a limit everything comes as it is", async () => {
  const requests = [ask("a", 1), ask("a", 1), ask("b", 1)];
  expect(await sampled(requests)).toEqual(requests);
});

describe("with a limit", () => {
  const requests = [
    ...many("common", 50_000),
    ...many("common", 3000, { status: 404 }),
    ...many("common", 400, { keyed: true }),
    ask("common", "x", { status: 422, shape: "id=bad" }),
    ...many("rare", 2),
  ];

  test("every stratum is there, the rarest first, and no ask twice", async () => {
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
    expect(new Set(sample.map((one) => `${one.path} ${one.keyed}`)).size).toBe(20);
  });

  test("it is not the first ones that are taken, and always the same", async () => {
    const sample = await sampled(many("a", 100_000), 100);
    const late = sample.filter(({ path }) => Number(path.slice(3)) >= 50_000);
    expect(late.length).toBeGreaterThan(25);
    expect(late.length).toBeLessThan(75);
    expect(await sampled(many("a", 100_000), 100)).toEqual(sample);
  });

  test("as many as there are, where there are fewer; none for none", async () => {
    expect(await sampled([ask("a", 1), ask("a", 1), ask("a", 2)], 10)).toHaveLength(2);
    expect(await sampled(requests, 0)).toEqual([]);
    expect(await sampled([], 5)).toEqual([]);
  });

  test("fewer than there are strata: those that are rarest", async () => {
    const sample = await sampled(requests, 2);
    expect(sample.map(({ endpoint, status }) => [endpoint, status])).toEqual([
      ["common", 422],
      ["rare", 200],
    ]);
  });

  test("the same, answered in two ways, is asked once", async () => {
    const sample = await sampled([ask("a", 1), ask("a", 1, { status: 404 }), ask("a", 2)], 5);
    expect(sample.map(({ path }) => path).toSorted()).toEqual(["/a/1", "/a/2"]);
  });

  test("forgetting on the way misses nothing: the levels are those of all that was seen", async () => {
    const arbitrary = fc.array(
      fc.record({
        endpoint: fc.constantFrom("a", "b", "c"),
        status: fc.constantFrom(200, 404),
        count: fc.integer({ min: 1, max: 9000 }),
      }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(arbitrary, fc.integer({ min: 1, max: 60 }), async (groups, limit) => {
        const all = groups.flatMap(({ endpoint, status, count }) =>
          Array.from({ length: count }, (_, i) => ask(endpoint, `${status}/${i}`, { status })),
        );
        const sizes = Object.values(Object.groupBy(all, stratum)).map(
          (group) => new Set(group?.map(({ path }) => path)).size,
        );
        const sample = await sampled(all, limit);
        const total = sizes.reduce((sum, size) => sum + size, 0);
        expect(sample).toHaveLength(Math.min(limit, total));
        const level = levelOf(sizes, limit);
        for (const group of Object.values(Object.groupBy(sample, stratum)))
          expect(group?.length).toBeLessThanOrEqual(level + 1);
        // Nor does it matter in which order they come.
        expect(await sampled(all.toReversed(), limit)).toEqual(sample);
      }),
      { numRuns: 5 },
    );
  });
});

describe("memory", () => {
  test("holds a multiple of the limit, however many there are and however odd", () => {
    const limit = 1000;
    const strata = openStrata(limit);
    let most = { strata: 0, requests: 0 };
    for (let i = 0; i < 100_000; i++) {
      // A scanner invents shapes; nearly each of its requests is a stratum of its own.
      const odd = i % 3 === 0;
      strata.add(ask(odd ? "scanned" : `e${i % 7}`, i, odd ? { shape: `x${i}`, status: 422 } : {}));
      const held = strata.held();
      most = { strata: Math.max(most.strata, held.strata), requests: Math.max(most.requests, held.requests) };
    }
    expect(most.strata).toBeLessThanOrEqual(2 * limit);
    expect(most.requests).toBeLessThanOrEqual(8 * limit);
    const endpoints = new Set([...strata.picked()].map(({ endpoint }) => endpoint));
    expect([...strata.picked()]).toHaveLength(limit);
    expect(endpoints).toContain("scanned");
  });

  test("what few ask is not forgotten for what a scanner invents", () => {
    const strata = openStrata(2000);
    const few = Array.from({ length: 50 }, (_, i) => ask("few", i, { shape: `few${i}` }));
    const odd = Array.from({ length: 50_000 }, (_, i) => ask("scanned", i, { shape: `x${i}`, status: 422 }));
    for (const one of [...few.slice(0, 25), ...odd, ...few.slice(25)]) strata.add(one);
    expect([...strata.picked()].filter(({ endpoint }) => endpoint === "few").length).toBeGreaterThan(0);
    expect(strata.held().strata).toBeLessThanOrEqual(4000);
  });
});

test.each([
  [[5, 1, 3], 6, 2],
  [[5, 1, 3], 100, Infinity],
  [[5, 5], 9, 4],
  [[5, 5, 5], 2, 0],
  [[], 2, Infinity],
])("%j share %i: %d each", (sizes, limit, level) => {
  expect(levelOf(sizes, limit)).toBe(level);
});
