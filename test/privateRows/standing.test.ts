import { describe, expect, test } from "vitest";
import { away, type Entry, error, publicOne } from "./smallLegacy.ts";
import { upTo } from "./smallWalk.ts";
import { standingOver } from "./smallStanding.ts";

const of = (uploader: number): Entry => ({ is: "private", uploader });
/** 2 is user 16's, 3 and 5 user 17's, 6 the administrator's. */
const rows = (): [number, Entry][] => [
  [1, publicOne],
  [2, of(16)],
  [3, of(17)],
  [5, of(17)],
  [6, of(1)],
];
const ALL = "among 2,3,5,6";
/** Whether each is listed to them, and whether they are shown it. */
const both = (...ids: number[]) => ids.flatMap((id) => [`among ${id}`, `one ${id}`]);

describe("what legacy is asked of a key", () => {
  test.each<[string, number | "administrator", [number, Entry][], unknown, string[]]>([
    ["one who owns nothing", 99, rows(), "other", ["one 2"]],
    ["an administrator", "administrator", rows(), { shown: [6] }, ["one 2", ALL, ...both(2, 3, 5)]],
    ["an owner of the first", 16, rows(), "other", ["one 2", ALL, ...both(3)]],
    ["an owner of others", 17, rows(), "other", ["one 2"]],
    ["the owner of all", 17, rows().slice(2, 4), { owns: [3, 5] }, ["one 3", "among 3,5"]],
    ["an administrator whose own is the first", "administrator", rows().slice(4), { owns: [6] }, ["one 6", "among 6"]],
    [
      "an administrator who owns all but one",
      "administrator",
      [[2, of(1)], [3, of(1)], ...rows().slice(3)],
      { shown: [2, 3, 6] },
      ["one 2", ALL, ...both(5)],
    ],
    [
      "the owner of a row that nobody is told of",
      17,
      [[2, { is: "hidden", uploader: 17 }]],
      { owns: [2] },
      ["one 2", "among 2"],
    ],
    ["somebody else, over a row that nobody is told of", 99, [[2, { is: "hidden", uploader: 17 }]], "other", ["one 2"]],
    ["an administrator, over nothing", "administrator", [[1, publicOne]], "unknown", []],
    [
      "an administrator, over a row that nobody is told of",
      "administrator",
      [[2, { is: "hidden" }]],
      "unknown",
      ["one 2", "among 2"],
    ],
    [
      "an administrator, over such a row of their own and another",
      "administrator",
      [[2, { is: "hidden", uploader: 1 }], ...rows().slice(2, 3)],
      { shown: [2] },
      ["one 3", "among 2,3", ...both(3)],
    ],
  ])("%s", async (_, who, entries, standing, calls) => {
    const bed = standingOver(entries);
    expect([await bed.standingOf(who), bed.legacy.calls]).toEqual([standing, calls]);
    expect(bed.questions).toEqual([]);
  });
});

test("of many rows the first, the last and one between tell; and one that is denied says more than all that are shown", async () => {
  const many = upTo(1, 40).map((id): [number, Entry] => [id, of(17)]);
  const bed = standingOver(many);
  expect(await bed.standingOf("administrator")).toEqual({ shown: [] });
  expect(bed.legacy.calls.slice(2)).toEqual(both(1, 21, 40));
  // A row of their own that their list lacks, for whatever reason.
  const odd = standingOver([[1, of(99)], ...many.slice(1)]);
  odd.legacy.before = (call, who) => (who === 99 && call === "among 1" ? error(372) : undefined);
  expect(await odd.standingOf(99)).toBe("other");
});

test("rows that are none any more are passed over and asked about, three at most", async () => {
  const { legacy, questions, standingOf } = standingOver(rows());
  legacy.rows.delete(2);
  legacy.rows.set(3, publicOne);
  expect([await standingOf(99), questions, legacy.newCalls()]).toEqual(["other", [2, 3], ["one 2", "one 3", "one 5"]]);
  legacy.rows.delete(5);
  expect(await standingOf("administrator")).toBe("unknown");
  expect(questions.slice(2)).toEqual([2, 3, 5]);
});

test.each([
  ["that is refused", error(103), "refused"],
  ["to which legacy cannot answer", away, "unknown"],
  ["to which legacy's database does not answer", error(107), "unknown"],
  [
    "to which legacy answers with an error of its own",
    { ...error(1), reading: { is: "unreadable", why: "x" } } as const,
    "unknown",
  ],
])("of a key %s nobody can tell, and nothing is remembered", async (_, answer, told) => {
  for (const failing of [/^one/, /^among .*,/, /^among \d+$/]) {
    const { legacy, standingOf } = standingOver(rows());
    legacy.before = (call) => (failing.test(call) ? answer : undefined);
    expect([failing, await standingOf("administrator")]).toEqual([failing, told]);
    legacy.before = () => undefined;
    expect([failing, await standingOf("administrator")]).toEqual([failing, { shown: [6] }]);
  }
});

test("legacy that takes longer than one may wait tells nothing, but is heard when it does", async () => {
  const { legacy, standingOf } = standingOver(rows());
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => (answer = resolve));
  legacy.before = () => isAnswered;
  expect(await standingOf("administrator", 5)).toBe("unknown");
  answer();
  expect(await standingOf("administrator")).toEqual({ shown: [6] });
  expect(legacy.calls).toEqual(["one 2", ALL, ...both(2, 3, 5)]);
});

test("many who ask with one key at once ask legacy once; each key is asked for itself", async () => {
  const { legacy, standingOf } = standingOver(rows());
  const all = await Promise.all([
    ...Array.from({ length: 5 }, () => standingOf("administrator")),
    standingOf(16),
    standingOf(99),
  ]);
  expect(all).toEqual([...Array.from({ length: 5 }, () => ({ shown: [6] })), "other", "other"]);
  expect(legacy.calls).toHaveLength(8 + 4 + 1);
});

test("what came to be known while legacy was asked is no reason to take an administrator for none", async () => {
  const { legacy, index, learn, standingOf } = standingOver([[2, of(16)]]);
  legacy.before = (call) => {
    if (call !== "among 2") return;
    legacy.rows.delete(2);
    index.remove(2);
    legacy.rows.set(7, of(17));
    learn(7);
  };
  expect(await standingOf("administrator")).toBe("unknown");
  expect(await standingOf("administrator")).toEqual({ shown: [] });
});
