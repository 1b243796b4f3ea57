import { expect, onTestFinished, test, vi } from "vitest";
import { openFound } from "../../../src/features/privateDatasets/found.ts";
import { openScanner } from "../../../src/features/privateDatasets/scan.ts";
import { memoryStores } from "../../../src/operation/store/openStores.ts";
import { datasetRow } from "../../../transforms/datasetRow.ts";
import { until } from "../../support/waiting.ts";

/** A scan of 20 unknown ids while callers use this share of the connections; `asked`: when each id was asked for. */
const scanUnder = async (load: () => number, pause?: number) => {
  const asked: number[] = [];
  const stopping = new AbortController();
  const found = await openFound({
    stores: memoryStores(),
    scope: "here",
    onChange: () => undefined,
  });
  const scanner = openScanner({
    found,
    async ask(request) {
      if ("path" in request && request.path.startsWith("/data/")) asked.push(performance.now());
      else return { code: 1011, kind: "refused" };
      return { code: 111, kind: "notFound" };
    },
    rowById: datasetRow,
    fetchListed: () => Promise.resolve([]),
    load,
    onEvent: () => undefined,
    spent: { calls: 0 },
    signal: stopping.signal,
    options: { margin: 20, ...(pause !== undefined && { pause }) },
  });
  const running = scanner.run();
  onTestFinished(async () => {
    vi.useRealTimers();
    stopping.abort();
    await running;
  });
  return { asked, isComplete: () => scanner.view().state === "complete" };
};

test("while callers use legacy the scan asks ten times a second", async () => {
  vi.useFakeTimers();
  const { asked } = await scanUnder(() => 0.1);
  await vi.advanceTimersByTimeAsync(1000);
  const [first = 0, ...later] = asked;
  expect(later.map((time) => time - first)).toEqual(later.map((_, i) => 100 * (i + 1)));
  expect(later.length).toBeGreaterThan(0);
});

test("while callers use a quarter of the connections the scan asks nothing", async () => {
  let looks = 0;
  let askedMeanwhile = -1;
  const { asked, isComplete } = await scanUnder(() => {
    looks++;
    if (looks === 10) askedMeanwhile = asked.length;
    return looks < 10 ? 0.25 : 0;
  });
  await until(isComplete);
  expect([askedMeanwhile, asked.length]).toEqual([0, 20]);
});

test("the next scan begins in time where the clock is set back", async () => {
  const { asked, isComplete } = await scanUnder(() => 0, 100);
  await until(isComplete);
  const now = Date.now;
  const back = vi.spyOn(Date, "now").mockImplementation(() => now() - 86_400_000);
  onTestFinished(() => back.mockRestore());
  const before = asked.length;
  // One scan may have begun before.
  await until(() => asked.length > before + 20);
  expect(isComplete()).toBe(true);
});
