import { expect, onTestFinished, test } from "vitest";
import { openHistory } from "../../../../src/features/migration/history/history.ts";
import { historyRangeNames, historyRanges } from "../../../../src/features/migration/history/slot.ts";

const HOUR = 3_600_000;
const noon = Date.UTC(2026, 10, 21, 12);

const opened = () => {
  const clock = { at: noon };
  const history = openHistory(["getThing", "listThings"], () => clock.at);
  onTestFinished(() => history.close());
  return { history, clock };
};

test("what happens is counted in all three ranges, by endpoint and together", () => {
  const { history, clock } = opened();
  const thing = history.of("getThing");
  for (let i = 0; i < 10; i++) thing.answered(i < 7);
  for (let i = 0; i < 20; i++) thing.asked("legacy", 100 + i, false);
  thing.asked("modern", 5, true);
  thing.compared(true);
  thing.compared(false);
  history.of("listThings").answered(false);
  for (const range of historyRangeNames) {
    const points = history.points(range, "getThing");
    expect(points).toHaveLength(historyRanges[range].slots);
    expect(points.at(-1)).toMatchObject({ requests: 10, hits: 7, judged: 2, good: 1, modern: { asked: 1, failed: 1 } });
    const { p50 = 0, p95 = 0 } = points.at(-1)?.legacy ?? {};
    expect([p50 >= 100 && p50 <= 150, p95 >= p50 && p95 <= 150]).toEqual([true, true]);
    expect(history.points(range).at(-1)?.requests).toBe(11);
  }
  clock.at += 10 * 60_000;
  expect(
    history
      .requests()("getThing")
      .findIndex((count) => count > 0),
  ).toBe(39);
  clock.at += HOUR;
  expect(history.points("30m", "getThing").every(({ requests }) => requests === 0)).toBe(true);
  expect(history.points("24h", "getThing").map(({ requests }) => requests)).toContain(10);
});
