import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { MARGIN } from "../../../src/features/privateDatasets/scan.ts";
import { until } from "../../support/waiting.ts";
import { away, error, privateOne, publicOne, type SmallLegacy, smallLegacy } from "./smallLegacy.ts";
import { startWalk, upTo } from "./smallScan.ts";

const some = () =>
  smallLegacy([
    [1, publicOne],
    [4, privateOne],
    [6, privateOne],
    [9, publicOne],
  ]);
const onesOf = ({ calls }: SmallLegacy) => calls.filter((call) => call.startsWith("one "));
const everyOne = [2, 3, 4, 5, 6, 7, 8, ...upTo(10, 9 + MARGIN)].map((id) => `one ${id}`);

test.each([
  ["the list", "list 200 0"],
  ["a row", "one 4"],
  ["what else is shown of it", "rest 4"],
])("legacy goes away at %s: it is told once, and gone on with where it was", async (_, call) => {
  const legacy = some();
  let failures = 0;
  // When it is away it says nothing at all.
  legacy.before = (asked) => ((asked === call || failures > 0) && failures < 8 ? (failures++, away) : undefined);
  const walk = startWalk(legacy);
  await until(() => failures > 4);
  expect(walk.view()).toMatchObject({ doing: call.startsWith("list") ? "listing" : "looking", trouble: "it is away" });
  expect(await walk.walked()).toEqual([4, 6]);
  expect(walk.events).toEqual(["private_walk_failed it is away"]);
  expect(walk.view().trouble).toBeUndefined();
  // And whether legacy answers for the first one.
  expect([...new Set(onesOf(legacy))].filter((one) => one !== "one 1")).toEqual(everyOne);
  expect(walk.hidden()).toEqual([]);
});

test.each([1, 5, 8, 1000, 1500, 2000])(
  "row %i of the list cannot be read by anybody: all others are",
  async (place) => {
    const unparsable = { status: 200, reading: { is: "unreadable", why: "its XML is not well-formed" } } as const;
    const legacy = smallLegacy(upTo(1, 400).map((id) => [id, id === 7 ? privateOne : publicOne]));
    const listed = upTo(1, 400).filter((id) => id !== 7);
    legacy.before = (call) => {
      const [what, limit, offset] = call.split(" ");
      const isOnIt = place > Number(offset) && place <= Number(offset) + Number(limit);
      return what === "list" && isOnIt && place <= listed.length ? unparsable : undefined;
    };
    const walk = startWalk(legacy);
    expect(await walk.walked()).toEqual([7]);
    // It is read by itself, as any row that is not listed.
    const looked = onesOf(legacy).slice(0, -MARGIN);
    const missed = place <= listed.length ? [listed[place - 1] ?? 0] : [];
    expect(looked).toEqual([7, ...missed].toSorted((a, b) => a - b).map((id) => `one ${id}`));
    expect(walk.events).toEqual([]);
  },
);

test("each new trouble is told", async () => {
  const legacy = some();
  const failing = new Set(["one 2", "one 4", "rest 6"]);
  legacy.before = (call) => (failing.delete(call) ? away : undefined);
  const walk = startWalk(legacy);
  expect(await walk.walked()).toEqual([4, 6]);
  expect(walk.events).toEqual(Array.from({ length: 3 }, () => "private_walk_failed it is away"));
});

test("a row at which only legacy fails is there, but hidden", async () => {
  const legacy = some();
  legacy.rows.set(5, { is: "failing" });
  const walk = startWalk(legacy);
  expect([await walk.walked(), walk.hidden()]).toEqual([[4, 5, 6], [5]]);
  expect(walk.events).toEqual(["private_walk_failed it is away"]);
  expect(onesOf(legacy).filter((call) => call === "one 5")).toHaveLength(3);
  // And it comes to light when legacy does not fail any more.
  legacy.rows.set(5, privateOne);
  walk.again();
  expect([await walk.walked(), walk.hidden()]).toEqual([[4, 5, 6], []]);
});

test("a list with many unparsable rows ends no scan: their pages are read row by row", async () => {
  const unparsable = { status: 200, reading: { is: "unreadable", why: "its XML is not well-formed" } } as const;
  const legacy = smallLegacy(upTo(1, 900).map((id) => [id, id === 850 ? privateOne : publicOne]));
  legacy.before = (call) => {
    const [what, limit, offset] = call.split(" ");
    // Every seventh row, but for the last hundred.
    const last = Math.min(700, Number(offset) + Number(limit));
    return what === "list" && Math.floor(last / 7) > Math.floor(Number(offset) / 7) ? unparsable : undefined;
  };
  const walk = startWalk(legacy);
  expect(await walk.walked()).toEqual([850]);
  expect(walk.events).toEqual([]);
});

test("a row that failed the last time is tried once with each walk", async () => {
  const legacy = some();
  legacy.rows.set(5, { is: "failing" });
  const walk = startWalk(legacy);
  await walk.walked();
  legacy.newCalls();
  walk.again();
  await walk.walked();
  expect([onesOf(legacy).filter((call) => call === "one 5"), walk.hidden()]).toEqual([["one 5"], [5]]);
});

test("a key that legacy does not know is told, and nothing is taken for anything", async () => {
  const legacy = some();
  let isKnown = false;
  let refusals = 0;
  legacy.before = (_, who) => (who === "administrator" && !isKnown ? (refusals++, error(103)) : undefined);
  const walk = startWalk(legacy);
  await until(() => refusals > 1);
  expect(walk.view()).toMatchObject({ doing: "looking", at: 2, trouble: "legacy does not know the key" });
  expect([walk.ids(), walk.index.walk().checkedUpTo, walk.events]).toEqual([
    [],
    0,
    ["private_walk_refused legacy does not know the key"],
  ]);
  isKnown = true;
  expect(await walk.walked()).toEqual([4, 6]);
});

test("who may not walk stops at once, and goes on where it was when it may", async () => {
  const legacy = some();
  const walk = startWalk(legacy);
  legacy.before = (call) => {
    if (call === "one 6") walk.walk.mayWalk = false;
  };
  await until(() => !walk.walk.mayWalk && walk.view().doing === "waiting");
  const calls = legacy.newCalls();
  expect(calls.at(-2)).toBe("one 6");
  await sleep(10);
  expect([legacy.calls, walk.ids(), walk.index.walk().checkedUpTo]).toEqual([[], [4], 5]);
  legacy.before = () => undefined;
  walk.walk.mayWalk = true;
  expect(await walk.walked()).toEqual([4, 6]);
  expect(onesOf(legacy)).toEqual(["one 4", ...everyOne.slice(4)]);
});

test("nothing is asked by a gateway that may not scan, or before a scan is due", async () => {
  const legacy = some();
  const walk = startWalk(legacy);
  walk.walk.mayWalk = false;
  // It has begun to ask for the list.
  await until(() => walk.view().doing === "waiting");
  legacy.newCalls();
  await sleep(10);
  expect(legacy.newCalls()).toEqual([]);
  walk.walk.mayWalk = true;
  await walk.walked();
  legacy.newCalls();
  await sleep(10);
  expect(legacy.calls).toEqual([]);
});

test("an answer that is older than what happened to the row does not count", async () => {
  const legacy = some();
  const walk = startWalk(legacy);
  legacy.before = async (call, who) => {
    if (call !== "rest 4" || who !== "administrator") return undefined;
    // It was private when it was looked at.
    legacy.before = () => undefined;
    legacy.rows.delete(4);
    walk.queue.add(4);
    await walk.queue.settled();
    return undefined;
  };
  expect(await walk.walked()).toEqual([6]);
});

test("a private row that the list shows by now is asked about at once", async () => {
  const legacy = some();
  const walk = startWalk(legacy);
  await walk.walked();
  legacy.newCalls();
  legacy.rows.set(6, publicOne);
  walk.again();
  expect(await walk.walked()).toEqual([4]);
  expect(onesOf(legacy).toSorted()).toEqual([4, 6, ...upTo(10, 9 + MARGIN)].map((id) => `one ${id}`).toSorted());
});
