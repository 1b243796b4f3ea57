import { expect, onTestFinished, test, vi } from "vitest";
import { type AnswerCounts, requestKinds } from "../../../src/operation/telemetry/meter.ts";
import { openRecentTimes } from "../../../src/operation/telemetry/recentTimes.ts";
import { isTrouble, openTraffic, sumTraffic } from "../../../src/operation/telemetry/traffic.ts";

const MINUTE = 60_000;

test("traffic covers five minutes or the last one, and its curve three hours", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const counts = new Map<string, AnswerCounts>();
  const traffic = openTraffic({ counts }, ["a"]);
  onTestFinished(traffic.close);
  counts.set("a", { requests: 60, hits: 30, errors: 6 });
  vi.advanceTimersByTime(MINUTE);
  expect(traffic.of("a")).toEqual({ requests: 60, hits: 30, errors: 6, rate: 1 });
  counts.set(requestKinds.write, { requests: 3, hits: 0, errors: 2 });
  vi.advanceTimersByTime(5000);
  expect(traffic.lastMinute().filter(({ errors }) => errors > 0)).toMatchObject([{ name: requestKinds.write }]);
  expect(traffic.curve().map(({ requests }) => requests)).toEqual([60, 3]);
  vi.advanceTimersByTime(4 * MINUTE);
  expect(traffic.of("a").requests).toBe(0);
  vi.advanceTimersByTime(180 * MINUTE);
  expect(sumTraffic(traffic.recent()).requests).toBe(0);
  expect(traffic.curve()).toHaveLength(180);
});

test.each([
  [2, 2, false],
  [3, 3, true],
  [3, 2999, true],
  [3, 3000, false],
])("%i failures of %i requests are a trouble: %s", (errors, requests, expected) => {
  expect(isTrouble({ errors, requests })).toBe(expected);
});

test("a quantile is that of the latest 200 times", () => {
  const times = openRecentTimes();
  expect(times.quantile(0.95)).toBeUndefined();
  for (let ms = 1; ms <= 300; ms++) times.add(ms);
  expect(times.quantile(0.95)).toBe(291);
});
