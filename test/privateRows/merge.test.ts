import fc from "fast-check";
import { expect, test } from "vitest";
import type { Page } from "../../src/privateRows/knowledge.ts";
import { type FetchPage, mergedPage, type Placed } from "../../src/privateRows/merge.ts";

const placed = (ids: readonly number[], kind: string): Placed<string>[] =>
  ids.map((id) => ({ id, row: `${kind} ${id}` }));

/** A list that is asked for by pages, and what it was asked for. */
const pagesOf = (rows: readonly Placed<string>[]) => {
  const asked: Page[] = [];
  const fetch: FetchPage<string, string> = async (page) => {
    asked.push(page);
    expect(page.offset).toBeGreaterThanOrEqual(0);
    expect(page.limit).toBeGreaterThanOrEqual(1);
    return { rows: rows.slice(page.offset, page.offset + page.limit) };
  };
  return { asked, fetch };
};

/** Ids, each of one of two lists. */
const twoLists = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 120, size: "max" }),
    fc.infiniteStream(fc.nat(9)),
    fc.nat(10),
  )
  .map(([ids, draws, share]) => {
    const sorted = ids.toSorted((a, b) => a - b).map((id) => ({ id, isAdded: (draws.next().value ?? 0) < share }));
    return {
      all: sorted.map(({ id, isAdded }) => `${isAdded ? "added" : "listed"} ${id}`),
      added: placed(
        sorted.filter(({ isAdded }) => isAdded).map(({ id }) => id),
        "added",
      ),
      listed: placed(
        sorted.filter(({ isAdded }) => !isAdded).map(({ id }) => id),
        "listed",
      ),
    };
  });
const page = fc.record({ offset: fc.nat(140), limit: fc.integer({ min: 1, max: 30 }) });
const slacks = fc.constantFrom(0, 1, 2, 5, 1000);

test("a page is the one of both lists together, and little is fetched for it", async () => {
  await fc.assert(
    fc.asyncProperty(twoLists, page, slacks, async ({ all, added, listed }, { offset, limit }, slack) => {
      const { asked, fetch } = pagesOf(listed);
      expect(await mergedPage(added, { offset, limit }, fetch, slack)).toEqual({
        rows: all.slice(offset, offset + limit),
      });
      expect(asked.length).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(added.length + 1)));
      expect(Math.max(...asked.map((one) => one.limit))).toBeLessThanOrEqual(limit + slack);
    }),
    { numRuns: 1500 },
  );
});

test("all pages of one size neither lack nor repeat a row", async () => {
  await fc.assert(
    fc.asyncProperty(
      twoLists,
      fc.integer({ min: 1, max: 40 }),
      slacks,
      async ({ all, added, listed }, limit, slack) => {
        const { fetch } = pagesOf(listed);
        const met: string[] = [];
        for (let offset = 0; offset <= all.length; offset += limit) {
          const merged = await mergedPage(added, { offset, limit }, fetch, slack);
          if ("rows" in merged) met.push(...merged.rows);
        }
        expect(met).toEqual(all);
      },
    ),
    { numRuns: 150 },
  );
});

test("all of many at the beginning, or all at the end, and none at all", async () => {
  const [low, high] = [Array.from({ length: 50 }, (_, i) => i + 1), Array.from({ length: 50 }, (_, i) => i + 51)];
  for (const [first, second] of [
    [low, high],
    [high, low],
    [low, []],
    [[], low],
    [[], []],
  ] as const) {
    const [added, listed] = [placed(first, "row"), placed(second, "row")];
    const all = placed(
      [...first, ...second].toSorted((a, b) => a - b),
      "row",
    ).map(({ row }) => row);
    for (const offset of [0, 1, 49, 50, 51, 99, 100, 1000])
      expect(await mergedPage(added, { offset, limit: 3 }, pagesOf(listed).fetch, 2)).toEqual({
        rows: all.slice(offset, offset + 3),
      });
  }
});

test("of what both lists have the ids are told", async () => {
  const { fetch } = pagesOf(placed([1, 2, 4, 6, 8], "listed"));
  const merge = (ids: number[], one: Page) => mergedPage(placed(ids, "added"), one, fetch);
  expect(await merge([2, 3, 8], { offset: 0, limit: 10 })).toEqual({ repeated: [2, 8] });
  expect(await merge([2], { offset: 1, limit: 1 })).toEqual({ repeated: [2] });
  // Beyond what was fetched nobody knows.
  expect(await merge([8], { offset: 0, limit: 2 })).toEqual({ rows: ["listed 1", "listed 2"] });
});

test.each([
  ["the page", 1000],
  ["a probe for it", 0],
])("whatever else comes of %s ends it", async (_, slack) => {
  const asked: Page[] = [];
  const fetch: FetchPage<string, string> = async (one) => {
    asked.push(one);
    return { other: "broken" };
  };
  expect(await mergedPage(placed([2, 3, 8], "added"), { offset: 2, limit: 3 }, fetch, slack)).toEqual({
    other: "broken",
  });
  expect(asked).toHaveLength(1);
});
