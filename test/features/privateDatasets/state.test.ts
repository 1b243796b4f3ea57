import { expect, test } from "vitest";
import { notWalked, type Walk } from "../../../src/features/privateDatasets/rows.ts";
import { type IndexState, lastIdOf, stateOf } from "../../../src/features/privateDatasets/state.ts";

const now = 10_000_000;
const minutes = (n: number) => now - n * 60_000;

test.each<[string, Partial<Walk>, string | undefined, IndexState]>([
  ["nothing was looked at", {}, undefined, "missing"],
  ["legacy could not be asked from the first", {}, "it is away", "broken"],
  ["some was looked at", { progressAt: minutes(0) }, undefined, "walking"],
  ["some was looked at long ago, and it is not over", { progressAt: minutes(90) }, undefined, "walking"],
  ["legacy cannot be asked any more", { progressAt: minutes(0) }, "it is away", "broken"],
  ["all was looked at", { completedAt: minutes(0), progressAt: minutes(0) }, undefined, "complete"],
  ["all was, half an hour ago", { completedAt: minutes(30), progressAt: minutes(30) }, undefined, "complete"],
  ["all was, longer ago", { completedAt: minutes(31), progressAt: minutes(31) }, undefined, "stale"],
  ["all was, longer ago, and nobody said more", { completedAt: minutes(31) }, undefined, "stale"],
  ["a later walk is on its way", { completedAt: minutes(500), progressAt: minutes(1) }, undefined, "complete"],
  ["a later walk is held up", { completedAt: minutes(20), progressAt: minutes(20) }, "it is away", "complete"],
  ["a later walk was held up for long", { completedAt: minutes(40), progressAt: minutes(31) }, "it is away", "stale"],
])("where %s", (_, walk, trouble, state) => {
  expect(stateOf({ ...notWalked, ...walk }, trouble, now)).toBe(state);
});

test("the last id to look at is beyond the highest, where there is any", () => {
  expect([0, 1, 900].map((highest) => lastIdOf({ ...notWalked, highest }, 100))).toEqual([0, 101, 1000]);
});
