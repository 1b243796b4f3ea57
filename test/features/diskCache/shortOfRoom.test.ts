import { expect, onTestFinished, test } from "vitest";
import { DiskTier } from "../../../features/diskCache/diskTier.ts";
import { entryOf } from "../../../src/gateway/cache/entry.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";

const MIB = 1024 ** 2;
const lifetimes = { fresh: 60_000, staleWhileRevalidate: 60_000, staleIfError: 60_000 };
const entry = entryOf(
  { status: 200, body: "x" },
  { endpoint: "e", groups: ["g"], lifetimes, storedAt: performance.now() },
);

/** A tier with so many bytes; what it reports of its disk, without repetitions. */
const openTier = (bytes: number) => {
  const reports: [isUp: boolean, why: string | undefined][] = [];
  const tier = new DiskTier({
    directory: temporaryFolder(),
    bytes,
    onRestored: () => undefined,
    onEmptied: () => undefined,
    report(isUp, why) {
      if (reports.at(-1)?.[0] !== isUp) reports.push([isUp, why]);
    },
    count: () => undefined,
  });
  onTestFinished(() => tier.close());
  return { tier, reports };
};

test("a disk without room is reported, and stays so whatever else the disk does", async () => {
  const { tier, reports } = openTier(4 * MIB);
  tier.set("a", entry);
  await until(() => reports.some(([isUp]) => !isUp));
  await tier.invalidate({ keys: ["a"] });
  await tier.get("a");
  expect(reports.at(-1)).toEqual([false, "nothing is stored: a tenth of the disk stays free, and at least 1 GiB"]);
});

test("a disk with room is well", async () => {
  const { tier, reports } = openTier(64 * MIB);
  tier.set("a", entry);
  await until(() => tier.size().entries === 1);
  await tier.invalidate({ keys: ["a"] });
  expect(reports).toEqual([[true, undefined]]);
});
