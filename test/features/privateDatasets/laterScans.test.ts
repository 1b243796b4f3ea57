import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { openIdSet } from "../../../src/features/privateDatasets/rows.ts";
import { MARGIN } from "../../../src/features/privateDatasets/scan.ts";
import { until } from "../../support/waiting.ts";
import { type Entry, privateOne, publicOne, smallLegacy } from "./smallLegacy.ts";
import { beyond, few, LIST, looks, startWalk, upTo } from "./smallScan.ts";

describe("a later scan", () => {
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

  test("reads a few of the ids without a row again, and in the end all of them", async () => {
    const legacy = smallLegacy(few());
    const first = startWalk(legacy, undefined, { slice: 2 });
    await first.walked();
    // Somebody has put it there, with an id of its own choice.
    legacy.rows.set(6, privateOne);
    const seen = [];
    for (let i = 0; i < 4; i++) {
      legacy.newCalls();
      first.again();
      const found = await first.walked();
      seen.push([legacy.newCalls().filter((call) => ["one 4", "one 5", "one 6"].includes(call)), found]);
    }
    expect(seen).toEqual([
      [
        ["one 4", "one 5"],
        [2, 7],
      ],
      [["one 6"], [2, 6, 7]],
      [
        ["one 4", "one 5", "one 6"],
        [2, 6, 7],
      ],
      // 6 is one that is known by now.
      [["one 6"], [2, 6, 7]],
    ]);
    expect(first.index.walk().recheckedUpTo).toBe(0);
  });

  test("begins after a minute where more has happened than was looked at, and not before", async () => {
    const legacy = smallLegacy(few());
    const walk = startWalk(legacy, undefined, { pause: 600_000 });
    await walk.walked();
    legacy.newCalls();
    walk.soon();
    walk.walk.time += 59_999;
    await sleep(1200);
    expect(legacy.newCalls()).toEqual([]);
    walk.walk.time++;
    await walk.walked();
    expect(legacy.newCalls()[0]).toBe(LIST);
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
    [
      "a row that legacy shows to no caller any more",
      (rows) => rows.set(2, { is: "hidden" }),
      [2, 7],
      [2, 7, ...beyond],
    ],
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
      walk.queue.add(2);
      await walk.queue.settled();
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
    walk.queue.add(1_000_000);
    await until(() => walk.hidden().length > 0);
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
    expect(upTo(1, 9).filter((id) => openIdSet(kept.walk.listed).has(id))).toEqual([1, 2, 3, 7, 8, 9]);
    const second = startWalk(legacy, kept);
    second.again();
    expect(await second.walked()).toEqual([1, 2, 7, 8]);
  });
});
