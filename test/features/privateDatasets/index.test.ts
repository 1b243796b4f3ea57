import { describe, expect, test } from "vitest";
import { openIndex } from "../../../src/features/privateDatasets/index.ts";
import { type Change, notWalked, type PrivateRow } from "../../../src/features/privateDatasets/rows.ts";

const row = (id: number, name = "a"): PrivateRow => ({ id, shown: { name } });
const walk = { checkedUpTo: 7, highest: 9, listed: "AQ==" };

const opened = () => {
  const found: Change[] = [];
  let changes = 0;
  const index = openIndex({ onFound: (change) => found.push(change), onRows: () => changes++ });
  /** How many changes of rows it tells of, in whichever way. */
  const counts = () => {
    expect(index.version()).toBe(changes);
    return { changes, found: found.length };
  };
  const ids = () => index.rows().map(({ id }) => id);
  return { index, found, counts, ids };
};

test("rows come by id, and each change is reported once", () => {
  const { index, found, counts, ids } = opened();
  for (const id of [5, 2, 11]) index.put(row(id));
  expect([ids(), counts()]).toEqual([[2, 5, 11], { changes: 3, found: 3 }]);
  index.put(row(5, "b"));
  index.put({ id: 2 });
  index.remove(11);
  expect(counts()).toEqual({ changes: 6, found: 6 });
  expect(index.rows()).toEqual([{ id: 2 }, row(5, "b")]);
  expect([index.get(5), index.get(11)]).toEqual([row(5, "b"), undefined]);
  expect(found.slice(3)).toEqual([
    { rows: [row(5, "b")], gone: [] },
    { rows: [{ id: 2 }], gone: [] },
    { rows: [], gone: [11] },
  ]);
});

test("what is known already is no change", () => {
  const { index, counts } = opened();
  index.put({ ...row(5), uploader: 3 });
  index.put(row(5));
  index.put({ id: 5, shown: { name: "a" }, uploader: undefined });
  index.remove(6);
  index.take({ rows: [], gone: [], walk }, false);
  expect([counts(), index.walk()]).toEqual([{ changes: 1, found: 1 }, walk]);
});

test("nothing but another takes a row from its uploader", () => {
  const { index, counts } = opened();
  index.put(row(5));
  index.put({ ...row(5), uploader: 3 });
  index.put(row(5, "b"));
  index.put({ id: 5 });
  expect(index.get(5)).toEqual({ id: 5, uploader: 3 });
  index.put({ ...row(5), uploader: 4 });
  expect([index.get(5)?.uploader, counts().changes]).toEqual([4, 5]);
});

test("the scan's progress is reported, and is no change of a row", () => {
  const { index, found, counts } = opened();
  expect(index.walk()).toEqual(notWalked);
  index.walked(walk);
  expect([index.walk(), counts(), found]).toEqual([walk, { changes: 0, found: 1 }, [{ rows: [], gone: [], walk }]]);
});

test("other gateways' changes are applied, and not reported to them again", () => {
  const { index, counts, ids } = opened();
  for (const id of [1, 2, 3]) index.put({ ...row(id), uploader: 3 });
  index.walked(walk);
  const before = counts();
  index.take({ rows: [row(2, "b"), row(4)], gone: [1, 9] }, false);
  expect([ids(), index.get(2), index.walk()]).toEqual([[2, 3, 4], row(2, "b"), walk]);
  expect(counts()).toEqual({ ...before, changes: before.changes + 1 });
});

test("what is all there is takes the place of everything", () => {
  const { index, counts, ids } = opened();
  for (const id of [1, 2, 3]) index.put(row(id));
  index.walked(walk);
  const before = counts();
  index.take({ rows: [row(9)], gone: [] }, true);
  expect([ids(), index.walk()]).toEqual([[9], notWalked]);
  index.take({ rows: [], gone: [], walk }, true);
  expect([ids(), index.walk()]).toEqual([[], walk]);
  expect(counts()).toEqual({ ...before, changes: before.changes + 2 });
});

test("a snapshot is all that another one needs, and stays as it was", () => {
  const { index } = opened();
  index.put({ ...row(5), uploader: 3 });
  index.put({ id: 2 });
  index.walked(walk);
  const kept = index.snapshot();
  const other = opened();
  other.index.take({ ...kept, gone: [] }, true);
  expect([other.index.rows(), other.index.walk()]).toEqual([index.rows(), walk]);
  index.remove(5);
  expect(kept.rows).toHaveLength(2);
});

describe("what was read of an id", () => {
  const read = () => {
    const hidden: string[] = [];
    const index = openIndex({
      onFound: () => undefined,
      onRows: () => undefined,
      onHidden: (id, why) => hidden.push(`${id} ${why}`),
    });
    return { index, hidden };
  };
  const found = { ok: true, found: "private", shown: { name: "a" } } as const;
  const state = (is: "public" | "none" | "hidden") => ({ ok: true, found: is, why: "code 113" }) as const;

  test("adds, keeps and removes rows, and a row that is hidden is reported once", () => {
    const { index, hidden } = read();
    index.record(5, found);
    index.record(6, state("none"));
    index.record(7, state("hidden"));
    index.record(7, state("hidden"));
    expect([index.rows().map(({ id }) => id), hidden]).toEqual([[5, 7], ["7 code 113"]]);
    index.record(5, state("hidden"));
    index.record(7, state("none"));
    expect([index.rows(), hidden.length]).toEqual([[{ id: 5 }], 2]);
  });

  test("is remembered of rows that turned public, until they are private or gone", () => {
    const { index } = read();
    for (const id of [3, 4, 5]) index.record(id, found);
    for (const id of [3, 4, 8]) index.record(id, state("public"));
    // Another gateway has found out that it is no private row any more.
    index.take({ rows: [], gone: [5, 9] }, false);
    expect(index.formerlyPrivate().toSorted((a, b) => a - b)).toEqual([3, 4, 5]);
    index.record(3, found);
    index.record(4, state("none"));
    expect(index.formerlyPrivate()).toEqual([5]);
  });
});
