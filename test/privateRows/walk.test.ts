import { describe, expect, test } from "vitest";
import { bitsOf } from "../../src/privateRows/bits.ts";
import { MARGIN } from "../../src/privateRows/walk.ts";
import { type Entry, error, privateOne, publicOne, smallLegacy } from "./smallLegacy.ts";
import { startWalk, upTo } from "./smallWalk.ts";

const LIST = "list 1000 0";
const looks = (ids: readonly number[], isPrivate = (_id: number) => false) =>
  ids.flatMap((id) => (isPrivate(id) ? [`one ${id}`, `rest ${id}`] : [`one ${id}`]));

/** 1, 3, 8 and 9 are listed, 2 and 7 private. */
const few = (): [number, Entry][] => [
  [1, publicOne],
  [2, privateOne],
  [3, publicOne],
  [7, { ...privateOne, uploader: 1 }],
  [8, publicOne],
  [9, publicOne],
];
const unlisted = [2, 4, 5, 6, 7];
const beyond = upTo(10, 9 + MARGIN);

describe("the first walk", () => {
  test("asks for the list, and then for each id that is not in it, one after the other", async () => {
    const legacy = smallLegacy(few());
    const walk = startWalk(legacy);
    expect(await walk.walked()).toEqual([2, 7]);
    expect(legacy.calls).toEqual([LIST, ...looks([...unlisted, ...beyond], (id) => [2, 7].includes(id))]);
    expect(walk.index.get(2)?.shown).toMatchObject({ did: "2", name: "row 2" });
    expect(walk.index.walk()).toMatchObject({ checkedUpTo: 9, highest: 9, completedAt: 1, progressAt: 1 });
    expect(walk.events).toEqual([]);
  });

  test("asks for a long list by pages", async () => {
    const legacy = smallLegacy(upTo(1, 2500).map((id) => [id, id === 1234 ? privateOne : publicOne]));
    const walk = startWalk(legacy);
    expect(await walk.walked()).toEqual([1234]);
    expect(legacy.calls.slice(0, 5)).toEqual([LIST, "list 1000 1000", "list 1000 2000", "one 1234", "rest 1234"]);
    expect(legacy.calls).toHaveLength(5 + MARGIN);
  });

  test("asks for one page more where the last one is full", async () => {
    const legacy = smallLegacy(upTo(1, 1000).map((id) => [id, publicOne]));
    await startWalk(legacy).walked();
    expect(legacy.calls.slice(0, 3)).toEqual([LIST, "list 1000 1000", "one 1001"]);
  });

  test("goes on from each private row beyond the list, even where nothing is listed", async () => {
    const rows = [90, 180, 280, 381];
    const legacy = smallLegacy(rows.map((id) => [id, privateOne]));
    const walk = startWalk(legacy);
    expect(await walk.walked()).toEqual([90, 180, 280]);
    expect(legacy.calls).toEqual([LIST, ...looks(upTo(1, 380), (id) => rows.includes(id))]);
    expect(walk.index.walk()).toMatchObject({ checkedUpTo: 0, highest: 280 });
  });

  test("knows of a row that legacy tells nobody of, unless that is listed by now", async () => {
    const legacy = smallLegacy([...few(), [5, { is: "hidden" }]]);
    legacy.before = (call) => {
      if (call !== "one 4" && call !== "one 6") return undefined;
      if (call === "one 6") legacy.rows.set(6, publicOne);
      return error(113);
    };
    const walk = startWalk(legacy);
    expect(await walk.walked()).toEqual([2, 4, 5, 7]);
    expect(walk.hidden()).toEqual([4, 5]);
    expect(legacy.calls.filter((call) => call.startsWith("among"))).toEqual(["among 4", "among 5", "among 6"]);
  });

  test("says how far it is", async () => {
    const legacy = smallLegacy(few());
    const seen: unknown[] = [];
    legacy.before = (call) => {
      if (["list 1000 0", "one 6", "one 60"].includes(call)) seen.push(walk.view(), walk.index.walk().checkedUpTo);
    };
    const walk = startWalk(legacy);
    await walk.walked();
    expect(seen).toEqual([
      { doing: "listing", at: 0, trouble: undefined },
      0,
      { doing: "looking", at: 6, trouble: undefined },
      5,
      { doing: "looking", at: 60, trouble: undefined },
      9,
    ]);
    expect(walk.view()).toEqual({ doing: "waiting", at: 0 });
  });
});

describe("a walk that was cut off", () => {
  test.each([["one 2"], ["rest 2"], ["one 4"], ["one 6"], ["one 7"], ["rest 7"], ["one 10"], ["one 50"]])(
    "in %s is gone on with, and asks nothing twice but that",
    async (last) => {
      const legacy = smallLegacy(few());
      const first = startWalk(legacy);
      const isThere = new Promise<void>((resolve) => {
        legacy.before = (call) => void (call === last && resolve());
      });
      await isThere;
      const kept = await first.stop();
      legacy.before = () => undefined;
      legacy.newCalls();
      const id = Number(last.split(" ")[1]);
      expect(kept.walk).toMatchObject({
        checkedUpTo: Math.min(9, [...unlisted, ...beyond].findLast((one) => one < id) ?? 0),
      });
      expect(kept.walk.completedAt).toBeUndefined();
      const second = startWalk(legacy, kept);
      expect(await second.walked()).toEqual([2, 7]);
      const asked = [...unlisted, ...beyond].filter((one) => one > kept.walk.checkedUpTo || [2, 7].includes(one));
      expect(legacy.calls).toEqual([
        LIST,
        ...looks(
          asked.filter((one) => one >= id || one > 9 || [2, 7].includes(one)),
          (one) => [2, 7].includes(one),
        ),
      ]);
      expect(second.index.walk()).toMatchObject({ checkedUpTo: 9, highest: 9, completedAt: 1 });
    },
  );
});

describe("a later walk", () => {
  test("asks for the list, the rows that are known, and what is beyond", async () => {
    const legacy = smallLegacy(few());
    const walk = startWalk(legacy);
    await walk.walked();
    legacy.newCalls();
    for (let i = 0; i < 3; i++) {
      walk.again();
      expect(await walk.walked()).toEqual([2, 7]);
      expect(legacy.newCalls()).toEqual([LIST, ...looks([2, 7, ...beyond], (id) => id < 9)]);
    }
  });

  test.each<[string, (rows: Map<number, Entry>) => void, number[], number[]]>([
    ["a private row that turned public", (rows) => rows.set(2, publicOne), [7], [7, ...beyond, 2]],
    ["a private row that was deleted", (rows) => rows.delete(2), [7], [2, 7, ...beyond]],
    ["a public row that turned private", (rows) => rows.set(3, privateOne), [2, 3, 7], [2, 3, 7, ...beyond]],
    ["a public row that was deleted", (rows) => rows.delete(3), [2, 7], [2, 3, 7, ...beyond]],
    ["the highest one, deleted", (rows) => rows.delete(9), [2, 7], [2, 7, 9, ...beyond]],
    ["a new public row", (rows) => rows.set(20, publicOne), [2, 7], [2, 7, ...upTo(10, 19), ...upTo(21, 120)]],
    ["a new private row", (rows) => rows.set(20, privateOne), [2, 7, 20], [2, 7, ...upTo(10, 120)]],
    [
      "a private row far beyond, with others between",
      (rows) => void rows.set(30, publicOne).set(125, privateOne).set(210, privateOne),
      [2, 7, 125, 210],
      [2, 7, ...upTo(10, 29), ...upTo(31, 310)],
    ],
    ["a row that nobody is told of any more", (rows) => rows.set(2, { is: "hidden" }), [2, 7], [2, 7, ...beyond]],
  ])("finds %s", async (_, change, known, asked) => {
    const legacy = smallLegacy(few());
    const walk = startWalk(legacy);
    await walk.walked();
    legacy.newCalls();
    change(legacy.rows);
    walk.again();
    expect(await walk.walked()).toEqual(known);
    const ones = legacy.newCalls().filter((call) => call.startsWith("one "));
    expect(ones.toSorted()).toEqual(looks(asked).toSorted());
    // Ids that were beyond the highest one then, and are not now, are looked at once more.
    for (let i = 0; i < 2; i++) {
      walk.again();
      expect(await walk.walked()).toEqual(known);
    }
    const highest = Math.max(9, ...legacy.rows.keys());
    const calls = legacy.newCalls();
    expect(calls.slice(calls.lastIndexOf(LIST) + 1).filter((call) => call.startsWith("one "))).toEqual(
      looks([...known, ...upTo(highest + 1, highest + MARGIN)]),
    );
  });

  test("finds rows that came while ids beyond them were looked at", async () => {
    const legacy = smallLegacy(few());
    const walk = startWalk(legacy);
    legacy.before = (call) => {
      if (call === "one 14") for (const id of upTo(10, 14)) legacy.rows.set(id, privateOne);
    };
    expect(await walk.walked()).toEqual([2, 7, 14]);
    legacy.before = () => undefined;
    walk.again();
    expect(await walk.walked()).toEqual([2, 7, ...upTo(10, 14)]);
  });

  test.each([
    ["since the list was asked for", "one 2"],
    ["since it was looked at", "one 7"],
    ["between two walks", undefined],
  ])("finds a row that was public for a while: %s", async (_, moment) => {
    const legacy = smallLegacy(few());
    const walk = startWalk(legacy);
    await walk.walked();
    const turn = async () => {
      legacy.before = () => undefined;
      legacy.rows.set(2, publicOne);
      if (moment === "one 2") return;
      walk.questions.ask(2);
      await walk.questions.settled();
    };
    if (moment === undefined) await turn();
    else {
      legacy.before = (call) => (call === moment ? turn() : undefined);
      walk.again();
      await walk.walked();
    }
    expect(walk.ids()).toEqual([7]);
    legacy.rows.set(2, privateOne);
    walk.again();
    expect(await walk.walked()).toEqual([2, 7]);
  });

  test("is no longer for an id at which legacy failed, however high", async () => {
    const legacy = smallLegacy([...few(), [1_000_000, { is: "failing" }]]);
    const walk = startWalk(legacy);
    await walk.walked();
    walk.questions.ask(1_000_000);
    await walk.questions.settled();
    expect(walk.hidden()).toEqual([1_000_000]);
    legacy.rows.delete(1_000_000);
    legacy.newCalls();
    walk.again();
    expect(await walk.walked()).toEqual([2, 7]);
    expect(legacy.calls).toEqual([LIST, "one 1000000", ...looks([2, 7, ...beyond], (id) => id < 9)]);
  });

  test("that was cut off remembers what was there before it", async () => {
    const legacy = smallLegacy(few());
    const first = startWalk(legacy);
    await first.walked();
    legacy.rows.set(1, privateOne).set(8, privateOne);
    const isThere = new Promise<void>((resolve) => {
      legacy.before = (call) => void (call === "one 2" && resolve());
    });
    first.again();
    await isThere;
    const kept = await first.stop();
    legacy.before = () => undefined;
    expect(upTo(1, 9).filter((id) => bitsOf(kept.walk.listed).has(id))).toEqual([1, 2, 3, 7, 8, 9]);
    const second = startWalk(legacy, kept);
    second.again();
    expect(await second.walked()).toEqual([1, 2, 7, 8]);
  });
});
