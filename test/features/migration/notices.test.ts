import { expect, onTestFinished, test, vi } from "vitest";
import { openNotices } from "../../../features/migration/notices.ts";
import type { Notice } from "../../../src/gateway/answer/core.ts";

test("a notice of differences fits into a message, whatever names modern chose", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const got: Notice[] = [];
  const notices = openNotices((notice) => void got.push(notice));
  const path = `/${"\u0001".repeat(10_000)}`;
  const about = {
    endpoint: "getDataset",
    path,
    form: "missing",
    cause: `missing at ${path}`,
  } as const;
  for (let i = 0; i < 50; i++) notices.differs(about);
  vi.advanceTimersByTime(2000);
  expect(got).toMatchObject([{ type: "differences.unexplained", count: 50 }]);
  expect(got[0]?.["differences"]).toHaveLength(20);
  expect(JSON.stringify(got[0]).length).toBeLessThan(60 * 1024);
});
