import { statfsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { openDependencies } from "../../src/telemetry/dependencies.ts";
import { openDiskSpace } from "../../src/telemetry/diskSpace.ts";
import { openUpstreamHealth } from "../../src/upstream/health.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

test("a state keeps the time since when it holds", async () => {
  vi.useFakeTimers({ now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  const dependencies = openDependencies();
  const report = dependencies.add("legacy");
  const stateAt = async (ms: number) => {
    vi.setSystemTime(ms);
    return (await dependencies.states())[0];
  };
  const at = (ms: number) => new Date(ms).toISOString();
  expect(await stateAt(1000)).toEqual({ name: "legacy", state: "ok", since: at(0) });
  report(true);
  report(false, "it cannot be reached");
  expect(await stateAt(2000)).toEqual({
    name: "legacy",
    state: "failed",
    since: at(1000),
    why: "it cannot be reached",
  });
  report(false, "it takes too long");
  expect(await stateAt(3000)).toEqual({ name: "legacy", state: "failed", since: at(1000), why: "it takes too long" });
  report(true);
  expect(await stateAt(4000)).toEqual({ name: "legacy", state: "ok", since: at(3000) });
});

test("an upstream is down when it cannot be reached, or failed three times in a row", () => {
  const states: [boolean, string?][] = [];
  const health = openUpstreamHealth((...state) => states.push(state));
  const { length } = states;
  for (const kind of ["timeout", "broken", "aborted", "overloaded", "crowded", "tooLarge"] as const)
    health.failed(kind);
  health.answered();
  health.failed("timeout");
  health.failed("timeout");
  expect(states.slice(length)).toEqual([[true]]);
  health.failed("timeout");
  expect(states.at(-1)).toEqual([false, "it takes too long to answer"]);
  health.answered();
  health.failed("unreachable");
  expect(states.at(-1)).toEqual([false, "it cannot be reached"]);
});

test("the space of a directory is that of its file system, also before it is made", async () => {
  const directory = temporaryFolder();
  const { blocks, bsize } = statfsSync(directory);
  for (const path of [directory, join(directory, "not", "yet")]) {
    const found = await openDiskSpace(path)();
    expect(found).toEqual({ size: blocks * bsize, free: expect.any(Number) as unknown });
  }
});

test("a path below a file has no space, and the reason names no path", async () => {
  expect(await openDiskSpace(join(import.meta.filename, "x"))()).toEqual({ why: "its space is not known (ENOTDIR)" });
});
