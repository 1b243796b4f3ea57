import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type FetchedRows,
  fetchListed,
  type FetchRows,
  fetchWhole,
  type ListPart,
  MAX_ROWS,
  mergedPage,
} from "../../../src/features/privateDatasets/merge.ts";

const rowsOf = (ids: readonly number[]) => new Map(ids.map((id) => [id, `listed ${id}`]));

const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);

/** A list in another order at each request, and what it was asked for; `fails`: what it cannot give. */
const listOf = (ids: readonly number[], fails: (part: ListPart, count: number) => boolean = () => false) => {
  const asked: ListPart[] = [];
  const fetch: FetchRows<string, "failed"> = async (part) => {
    asked.push(part);
    if (fails(part, asked.length)) return { ok: false, other: "failed" };
    const rows = "ids" in part ? ids.filter((id) => part.ids.includes(id)) : ids;
    return { ok: true, rows: rowsOf(shuffled(rows, Math.random)) };
  };
  return { asked, fetch };
};

/** What was fetched, by id. */
const sorted = (found: FetchedRows<string, string> | undefined) =>
  found?.ok ? [...found.rows].toSorted(([a], [b]) => a - b) : found;

const idLists = fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 120, size: "max" });

test("pages of a merged list have each row once, by id, whatever order legacy gives", () =>
  fc.assert(
    fc.property(idLists, idLists, fc.integer({ min: 1, max: 50 }), (listed, added, limit) => {
      const pages: number[] = [];
      for (let offset = 0; ; offset += limit) {
        const page = mergedPage(listed, added, { offset, limit });
        if (page.length === 0) break;
        pages.push(...page);
      }
      expect(pages).toEqual([...new Set([...listed, ...added])].toSorted((a, b) => a - b));
    }),
  ));

const whole = (
  fetch: FetchRows<string, "failed">,
  { isWorthParts = true, ids = [1, 2, 3, 4, 5, 6, 7, 8, 9] as readonly number[], maxIds = 4 } = {},
) => fetchWhole(fetch, { isWorthParts: () => isWorthParts, ids: () => ids, maxIds });

describe("a whole list", () => {
  test("is asked for at once", async () => {
    const { asked, fetch } = listOf([5, 3, 9]);
    const found = await whole(fetch);
    expect(sorted(found)).toEqual([3, 5, 9].map((id) => [id, `listed ${id}`]));
    expect(asked).toEqual([{ limit: MAX_ROWS }]);
  });

  test("is asked for by ids where legacy cannot give it at once", async () => {
    const { asked, fetch } = listOf([5, 3, 9], (part) => "limit" in part);
    const found = await whole(fetch);
    expect(sorted(found)).toEqual([3, 5, 9].map((id) => [id, `listed ${id}`]));
    expect(asked.slice(1)).toEqual([{ ids: [1, 2, 3, 4] }, { ids: [5, 6, 7, 8] }, { ids: [9] }]);
  });

  test("is not asked for by ids where that cannot help, and never given in part", async () => {
    const { asked, fetch } = listOf([5], (part) => "limit" in part);
    expect(await whole(fetch, { isWorthParts: false })).toEqual({ ok: false, other: "failed" });
    expect(asked).toHaveLength(1);
    const broken = listOf([5], (_, count) => count !== 2);
    expect(await whole(broken.fetch)).toEqual({ ok: false, other: "failed" });
    expect(broken.asked).toHaveLength(3);
  });

  test("takes 64 requests by ids at most", async () => {
    const ids = (length: number) => Array.from({ length }, (_, i) => i + 1);
    const most = listOf([5], (part) => "limit" in part);
    expect(await whole(most.fetch, { ids: ids(256) })).toHaveProperty("rows");
    expect(most.asked).toHaveLength(65);
    const more = listOf([5], (part) => "limit" in part);
    expect(await whole(more.fetch, { ids: ids(257) })).toEqual({ ok: false, other: "failed" });
    expect(more.asked).toHaveLength(1);
  });
});

describe("the listed rows of a page", () => {
  test("are asked for by their ids", async () => {
    const { asked, fetch } = listOf([1, 2, 3, 4, 5, 6]);
    const found = await fetchListed(fetch, [2, 3, 5], 2);
    expect(sorted(found)).toEqual([2, 3, 5].map((id) => [id, `listed ${id}`]));
    expect(asked).toEqual([{ ids: [2, 3] }, { ids: [5] }]);
    expect(await fetchListed(fetch, [], 2)).toEqual({ ok: true, rows: new Map() });
    expect(asked).toHaveLength(2);
  });

  test("are not given where one of them is listed no more, or legacy fails", async () => {
    const { fetch } = listOf([2, 3]);
    expect(await fetchListed(fetch, [2, 3, 5], 2)).toBeUndefined();
    expect(await fetchListed(listOf([2, 3, 5], (_, count) => count === 2).fetch, [2, 3, 5], 2)).toEqual({
      ok: false,
      other: "failed",
    });
  });

  test("are asked for by four requests at most: one gives the whole list", async () => {
    const { asked, fetch } = listOf([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await fetchListed(fetch, [1, 2, 3, 4, 5, 6, 7, 8], 2)).toHaveProperty("rows");
    expect(asked).toHaveLength(4);
    expect(await fetchListed(fetch, [1, 2, 3, 4, 5, 6, 7, 8, 9], 2)).toBeUndefined();
    expect(asked).toHaveLength(4);
  });
});
