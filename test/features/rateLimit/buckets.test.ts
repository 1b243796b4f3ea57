import { expect, test } from "vitest";
import { openBuckets } from "../../../features/rateLimit/buckets.ts";

test("a bucket gives ten seconds' worth at once, then its rate", () => {
  const buckets = openBuckets();
  const takeAt = (...times: number[]) => times.map((now) => Math.round(buckets.take("a", now, 0.3)));
  expect(takeAt(0, 0, 0, 0, 50)).toEqual([0, 0, 0, 3333, 3283]);
  expect(takeAt(3334, 3334, 7000)).toEqual([0, 3333, 0]);
  // A refused request costs nothing, and an idle bucket holds no more than the burst.
  expect(takeAt(100_000, 100_000, 100_000, 100_000)).toEqual([0, 0, 0, 3333]);
});

test("over a long time no more than the rate is taken, for any fractions", () => {
  const buckets = openBuckets();
  let taken = 0;
  for (let now = 0; now < 60_000; now += 1.3) if (buckets.take("a", now, 7) === 0) taken++;
  // The rate for a minute, and the burst of ten seconds.
  expect(taken).toBeGreaterThan(7 * 60);
  expect(taken).toBeLessThanOrEqual(7 * 70);
});

test("callers have a bucket each, and the number of buckets is bounded", () => {
  const buckets = openBuckets();
  expect(["a", "a", "b"].map((caller) => buckets.take(caller, 0, 0.1))).toEqual([0, 10_000, 0]);
  for (let i = 0; i < 100_000; i++) buckets.take(`c${i}`, 0, 0.1);
  expect([buckets.size(), buckets.take("a", 0, 0.1), buckets.take("c99999", 0, 0.1)]).toEqual([100_000, 0, 10_000]);
});
