import { expect, test } from "vitest";
import { openBuckets } from "../../../src/features/rateLimit/buckets.ts";

test("a bucket gives its burst at once, then its rate", () => {
  const buckets = openBuckets({ rate: 10, burst: 3 });
  const takeAt = (...times: number[]) => times.map((now) => Math.round(buckets.take("a", now)));
  expect(takeAt(0, 0, 0, 0, 50)).toEqual([0, 0, 0, 100, 50]);
  expect(takeAt(100, 100, 200)).toEqual([0, 100, 0]);
  // A refused request costs nothing, and an idle bucket holds no more than the burst.
  expect(takeAt(10_000, 10_000, 10_000, 10_000)).toEqual([0, 0, 0, 100]);
});

test("over a long time no more than the rate is taken, whatever the fractions", () => {
  const buckets = openBuckets({ rate: 7, burst: 1 });
  let taken = 0;
  for (let now = 0; now < 60_000; now += 1.3) if (buckets.take("a", now) === 0) taken++;
  expect(taken).toBeGreaterThan(410);
  expect(taken).toBeLessThanOrEqual(7 * 60 + 1);
});

test("callers have a bucket each, and the number of buckets is bounded", () => {
  const buckets = openBuckets({ rate: 1, burst: 1 }, 100);
  expect(["a", "a", "b"].map((caller) => buckets.take(caller, 0))).toEqual([0, 1000, 0]);
  for (let i = 0; i < 1000; i++) buckets.take(`c${i}`, 0);
  expect([buckets.size, buckets.has("a"), buckets.has("c999")]).toEqual([100, false, true]);
});
