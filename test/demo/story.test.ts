import { expect, test } from "vitest";
import { tellStory } from "./story.ts";

test("a migration finds planted faults, demotes a regression, and ends at modern", async () => {
  const lines: string[] = [];
  const { planted, missed, falsely, drift, demoted, stages, failed } = await tellStory(300, (line) => lines.push(line));
  expect(planted.length).toBeGreaterThan(5);
  expect({ missed, falsely, failed, taken: drift.taken, demoted }).toEqual({
    missed: [],
    falsely: [],
    failed: 0,
    taken: 0,
    demoted: true,
  });
  expect(new Set(Object.values(stages))).toEqual(new Set(["modern"]));
  expect(lines.length).toBeGreaterThan(8);
}, 120_000);
