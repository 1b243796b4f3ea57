import { expect, onTestFinished, test, vi } from "vitest";
import type { AnswerCounts } from "../../../src/operation/telemetry/meter.ts";
import { openTraffic } from "../../../src/operation/telemetry/traffic.ts";

const MINUTE = 60_000;

test("traffic covers five minutes: of each endpoint, of all, and of proxied answers", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const counts: Record<string, AnswerCounts> = {
    a: { requests: 0, hits: 0, errors: 0 },
    b: { requests: 0, hits: 0, errors: 0 },
    proxied: { requests: 0, hits: 0, errors: 0 },
  };
  const count = (name: string, more: Partial<AnswerCounts>) => {
    for (const [figure, by] of Object.entries(more)) (counts[name] as AnswerCounts)[figure as keyof AnswerCounts] += by;
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
