import { expect, test } from "vitest";
import { away, type Entry, error, privateOne } from "./smallLegacy.ts";
import { standingOver, stoppedClock } from "./smallStanding.ts";

const of = (uploader: number): Entry => ({ is: "private", uploader });
const rows = (): [number, Entry][] => [
  [2, of(16)],
  [3, of(17)],
  [6, of(1)],
];

test.each<[string, number | "administrator", unknown]>([
  ["an administrator is", "administrator", { shown: [6] }],
  ["who is none is, with rows of their own", 16, "other"],
  ["who is none is, with later rows of their own", 17, "other"],
  ["who is none is, with no rows", 99, "other"],
])("what %s is remembered for a minute", async (_, who, standing) => {
  const { legacy, standingOf } = standingOver(rows());
  const clock = stoppedClock();
  const calls = async () => {
    expect(await standingOf(who)).toEqual(standing);
    return legacy.newCalls().length;
  };
  const first = await calls();
  expect(first).toBeGreaterThan(0);
  expect(await calls()).toBe(0);
  await clock.pass(59_000);
  expect(await calls()).toBe(0);
  await clock.pass(1100);
  expect(await calls()).toBe(first);
});

test("the minute begins when legacy is asked, not when it answers", async () => {
  const { legacy, standingOf } = standingOver(rows());
  const clock = stoppedClock();
  legacy.before = () => clock.pass(15_000);
  expect(await standingOf("administrator")).toEqual({ shown: [6] });
  legacy.before = () => undefined;
  legacy.newCalls();
  await clock.pass(16_000);
  await standingOf("administrator");
  expect(legacy.calls).toHaveLength(6);
});

test("a key that is an administrator's no more is found out within the minute, or when it is refused", async () => {
  const { legacy, standings, standingOf } = standingOver(rows());
  const clock = stoppedClock();
  await standingOf("administrator");
  let instead = error(112);
  legacy.before = () => instead;
  await clock.pass(30_000);
  expect(await standingOf("administrator")).toEqual({ shown: [6] });
  await clock.pass(30_001);
  expect(await standingOf("administrator")).toBe("other");
  legacy.before = () => undefined;
  await clock.pass(61_000);
  expect(await standingOf("administrator")).toEqual({ shown: [6] });
  instead = error(103);
  legacy.before = () => instead;
  standings.forget("owner administrator");
  expect(await standingOf("administrator")).toBe("refused");
});

test("rows that came since are asked about, once", async () => {
  const { legacy, learn, standingOf } = standingOver(rows());
  await standingOf("administrator");
  legacy.rows.set(7, of(1)).set(8, of(16));
  learn(7);
  learn(8);
  legacy.newCalls();
  expect([await standingOf("administrator"), legacy.newCalls()]).toEqual([{ shown: [6, 7] }, ["among 7,8"]]);
  expect([await standingOf("administrator"), legacy.newCalls()]).toEqual([{ shown: [6, 7] }, []]);
  // Where that fails nobody can tell, but what was known is not forgotten.
  legacy.rows.set(9, privateOne);
  learn(9);
  legacy.before = () => away;
  expect(await standingOf("administrator")).toBe("unknown");
  legacy.before = () => undefined;
  expect([await standingOf("administrator"), legacy.newCalls()]).toEqual([{ shown: [6, 7] }, ["among 9", "among 9"]]);
});

test("who is none is not asked about rows that came since", async () => {
  const { legacy, learn, standingOf } = standingOver(rows());
  for (const who of [16, 17, 99]) await standingOf(who);
  legacy.rows.set(7, of(17));
  learn(7);
  legacy.newCalls();
  for (const who of [16, 17, 99]) expect(await standingOf(who)).toBe("other");
  expect(legacy.calls).toEqual([]);
});

test("an administrator who owned all private rows is one when another comes", async () => {
  const { legacy, learn, standingOf } = standingOver([[6, of(1)]]);
  for (let i = 0; i < 2; i++) expect(await standingOf("administrator")).toEqual({ owns: [6] });
  expect(legacy.newCalls()).toEqual(["one 6", "among 6"]);
  legacy.rows.set(7, of(16));
  learn(7);
  expect(await standingOf("administrator")).toEqual({ shown: [6] });
});

test("over nothing nothing is remembered", async () => {
  const { legacy, learn, standingOf } = standingOver([]);
  expect([await standingOf(99), await standingOf("administrator"), legacy.calls]).toEqual(["unknown", "unknown", []]);
  legacy.rows.set(7, of(16));
  learn(7);
  expect([await standingOf(99), await standingOf("administrator")]).toEqual(["other", { shown: [] }]);
});
