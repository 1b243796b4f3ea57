import { expect, onTestFinished, test, vi } from "vitest";
import { type AnswerCounts, requestKinds } from "../../../src/operation/telemetry/meter.ts";
import { openRecentTimes } from "../../../src/operation/telemetry/recentTimes.ts";
import { isTrouble, openTraffic, sumTraffic } from "../../../src/operation/telemetry/traffic.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Traffic of the endpoints a and b over counts that the test makes. */
const opened = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const counts = new Map<string, AnswerCounts>();
  const traffic = openTraffic({ counts }, ["a", "b"]);
  onTestFinished(traffic.close);
  const count = (name: string, requests: number, errors = 0, hits = 0) => {
    const known = counts.get(name) ?? { requests: 0, hits: 0, errors: 0 };
    const { requests: r, hits: h, errors: e } = known;
    counts.set(name, Object.assign(known, { requests: r + requests, hits: h + hits, errors: e + errors }));
  };
  return { traffic, counts, count, pass: (ms: number) => void vi.advanceTimersByTime(ms) };
};

test("traffic covers five minutes: of each endpoint, of old reads, and of other kinds", () => {
  const { traffic, count, pass } = opened();
  const none = { requests: 0, hits: 0, errors: 0, rate: 0 };
  expect([traffic.of("a"), sumTraffic(traffic.byEndpoint()), traffic.reads(), traffic.others()]).toEqual([
    none,
    none,
    [],
    [],
  ]);
  expect(traffic.hasBegun()).toBe(false);

  count("a", 60, 6, 30);
  count("b", 30, 1);
  pass(MINUTE);
  count("legacy a", 5);
  count(requestKinds.write, 12, 2);
  expect(traffic.of("a")).toEqual({ requests: 60, hits: 30, errors: 6, rate: 1 });
  expect(sumTraffic(traffic.byEndpoint())).toEqual({ requests: 90, hits: 30, errors: 7, rate: 1.5 });
  expect(traffic.reads()).toMatchObject([{ name: "legacy a", requests: 5 }]);
  expect(traffic.others()).toMatchObject([{ name: "writes of old clients", requests: 12, errors: 2 }]);

  count("b", 600);
  pass(4 * MINUTE);
  // The first minute is over.
  pass(5 * SECOND);
  expect(traffic.of("a")).toEqual(none);
  expect(traffic.of("b")).toMatchObject({ requests: 600, errors: 0 });
  pass(5 * MINUTE);
  expect([sumTraffic(traffic.byEndpoint()), sumTraffic(traffic.others())]).toEqual([none, none]);
});

test("the last minute is shown separately, and the curve has the last three hours", () => {
  const { traffic, count, pass } = opened();
  count("a", 10, 4);
  pass(MINUTE);
  expect(traffic.lastMinute()).toMatchObject([{ name: "a", requests: 10, errors: 4 }, { name: "b" }]);
  pass(5 * SECOND);
  count(requestKinds.write, 3, 3);
  const minute = traffic.lastMinute().filter(({ requests }) => requests > 0);
  expect(minute).toMatchObject([{ name: "writes of old clients", requests: 3, errors: 3 }]);
  expect(traffic.curve().map(({ requests, errors }) => [requests, errors])).toEqual([
    [10, 4],
    [3, 3],
  ]);
  pass(180 * MINUTE);
  expect(traffic.curve()).toHaveLength(180);
  expect(sumTraffic(traffic.recent()).requests).toBe(0);
});

test("the failures of a trouble include those of the minute before it", () => {
  const { traffic, count, pass } = opened();
  count("a", 100, 50, 40);
  pass(2 * MINUTE);
  count("a", 10, 4, 5);
  const outcomes = traffic.sinceNow();
  count("b", 20, 1, 7);
  expect(outcomes()).toEqual({ requests: 24, hits: 7, errors: 5 });
});

test.each([
  [2, 2, false],
  [3, 3, true],
  [3, 2999, true],
  [3, 3000, false],
])("%i failures of %i requests are a trouble: %s", (errors, requests, expected) => {
  expect(isTrouble({ errors, requests })).toBe(expected);
});

test("the p95 is computed from the latest 200 misses", () => {
  const misses = openRecentTimes();
  const { traffic, counts } = opened();
  expect(traffic.of("a").p95).toBeUndefined();
  counts.set("a", { requests: 300, hits: 0, errors: 0, misses });
  for (let ms = 1; ms <= 300; ms++) misses.add(ms);
  expect(traffic.of("a").p95).toBe(291);
});
