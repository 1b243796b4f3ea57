import { expect, onTestFinished, test, vi } from "vitest";
import type { AnswerCounts } from "../../../src/operation/telemetry/meter.ts";
import { openRecentTimes } from "../../../src/operation/telemetry/recentTimes.ts";
import { openTraffic } from "../../../src/operation/telemetry/traffic.ts";

type Counts = Omit<AnswerCounts, "misses">;

const MINUTE = 60_000;

test("traffic covers five minutes: of each endpoint, of all, and of proxied answers", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const counts: Record<string, Counts> = {
    a: { requests: 0, hits: 0, errors: 0 },
    b: { requests: 0, hits: 0, errors: 0 },
    proxied: { requests: 0, hits: 0, errors: 0 },
  };
  const count = (name: string, more: Partial<Counts>) => {
    for (const [figure, by] of Object.entries(more)) (counts[name] as Counts)[figure as keyof Counts] += by;
  };
  const traffic = openTraffic({ traffic: (name = "proxied") => ({ ...(counts[name] as AnswerCounts) }) }, ["a", "b"]);
  onTestFinished(traffic.close);
  const none = { requests: 0, hits: 0, errors: 0, rate: 0 };
  expect([traffic.of("a"), traffic.all(), traffic.proxied()]).toEqual([none, none, none]);

  count("a", { requests: 60, hits: 30, errors: 6 });
  count("b", { requests: 30, hits: 0, errors: 1 });
  count("proxied", { requests: 120, errors: 2 });
  vi.advanceTimersByTime(MINUTE);
  expect(traffic.of("a")).toEqual({ requests: 60, hits: 30, errors: 6, rate: 1 });
  expect(traffic.all()).toEqual({ requests: 90, hits: 30, errors: 7, rate: 1.5 });
  expect(traffic.proxied()).toEqual({ requests: 120, hits: 0, errors: 2, rate: 2 });

  count("b", { requests: 600 });
  vi.advanceTimersByTime(4 * MINUTE);
  // The first minute is over.
  expect(traffic.of("a")).toEqual(none);
  expect(traffic.of("b")).toMatchObject({ requests: 600, errors: 0 });
  vi.advanceTimersByTime(5 * MINUTE);
  expect([traffic.all(), traffic.proxied()]).toEqual([none, none]);
  expect(traffic.curve("a")).toEqual([60, ...Array.from({ length: 9 }, () => 0)]);
});

test("the p95 is that of the latest 200 misses, and reads are added by name", () => {
  const misses = openRecentTimes();
  const traffic = openTraffic({ traffic: () => ({ requests: 0, hits: 0, errors: 0, misses }) }, ["a"]);
  onTestFinished(traffic.close);
  expect(traffic.of("a").p95).toBeUndefined();
  for (let ms = 1; ms <= 300; ms++) misses.add(ms);
  expect(traffic.of("a").p95).toBe(291);
  const counts = { requests: 0, hits: 0, errors: 0 };
  traffic.addReads("old a", () => counts);
  counts.requests = 2;
  expect(traffic.reads()).toMatchObject([{ name: "old a", requests: 2, hits: 0, errors: 0, p95: undefined }]);
});
