import { describe, expect, test } from "vitest";
import { MARGIN } from "../../../src/features/privateDatasets/scan.ts";
import { error, privateOne, publicOne, smallLegacy } from "./smallLegacy.ts";
import { beyond, few, LIST, looks, startWalk, unlisted, upTo } from "./smallScan.ts";

describe("the first scan", () => {
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
    const legacy = smallLegacy(upTo(1, 500).map((id) => [id, id === 234 ? privateOne : publicOne]));
    const walk = startWalk(legacy);
    expect(await walk.walked()).toEqual([234]);
    expect(legacy.calls.slice(0, 5)).toEqual([LIST, "list 200 200", "list 200 400", "one 234", "rest 234"]);
    expect(legacy.calls).toHaveLength(5 + MARGIN);
  });

  test("asks for one page more where the last one is full", async () => {
    const legacy = smallLegacy(upTo(1, 200).map((id) => [id, publicOne]));
    await startWalk(legacy).walked();
    expect(legacy.calls.slice(0, 3)).toEqual([LIST, "list 200 200", "one 201"]);
  });

  test("goes on from each private row beyond the list, even where nothing is listed", async () => {
    const rows = [90, 180, 280, 381];
    const legacy = smallLegacy(rows.map((id) => [id, privateOne]));
    const walk = startWalk(legacy);
    expect(await walk.walked()).toEqual([90, 180, 280]);
    expect(legacy.calls).toEqual([LIST, ...looks(upTo(1, 380), (id) => rows.includes(id))]);
    expect(walk.index.walk()).toMatchObject({ checkedUpTo: 280, highest: 280 });
  });

  test("knows of a row that legacy shows to no caller, unless it is listed by now", async () => {
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
      if (["list 200 0", "one 6", "one 60"].includes(call)) seen.push(walk.view(), walk.index.walk().checkedUpTo);
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

describe("a scan that was cut off", () => {
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

  test("finds a row again that it had found, and that was public until it went on", async () => {
    const legacy = smallLegacy(few());
    const first = startWalk(legacy);
    const isThere = new Promise<void>((resolve) => {
      legacy.before = (call) => void (call === "one 6" && resolve());
    });
    await isThere;
    const { rows, walk } = await first.stop();
    expect(rows.map(({ id }) => id)).toEqual([2]);
    // As another one has found out.
    expect(await startWalk(legacy, { rows: [], walk }).walked()).toEqual([2, 7]);
  });
});
