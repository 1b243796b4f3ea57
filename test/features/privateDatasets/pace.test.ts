import { expect, onTestFinished, test, vi } from "vitest";
import { openScanResults } from "../../../features/privateDatasets/scanResults.ts";
import { Scanner } from "../../../features/privateDatasets/scan.ts";
import { memoryStores } from "../../../libraries/stores/openStores.ts";
import { datasetRow } from "../../../transforms/datasetRow.ts";

/**
 * A scan of 20 unknown ids while callers use this share of the connections, on a clock that only `pass` advances;
 * `asked`: when each id was asked for.
 */
const scanUnder = async (load: () => number) => {
  vi.useFakeTimers();
  const asked: number[] = [];
  const stopping = new AbortController();
  const scanResults = await openScanResults({
    stores: memoryStores(),
    scope: "here",
    onChange: () => undefined,
  });
  const scanner = new Scanner({
    onKey: () => undefined,
    scanResults,
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
    options: { margin: 20 },
  });
  const running = scanner.run();
  onTestFinished(async () => {
    vi.useRealTimers();
    stopping.abort();
    await running;
  });
  return {
    asked,
    isComplete: () => scanner.view().state === "complete",
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
  };
};

test("while callers use legacy the scan asks ten times a second", async () => {
  const { asked, pass } = await scanUnder(() => 0.1);
  await pass(1000);
  const [first = 0, ...later] = asked;
  expect(later.map((time) => time - first)).toEqual(later.map((_, i) => 100 * (i + 1)));
  expect(later.length).toBeGreaterThan(0);
});

test("while callers use a quarter of the connections the scan asks nothing", async () => {
  let share = 0.25;
  const { asked, isComplete, pass } = await scanUnder(() => share);
  await pass(60_000);
  expect(asked).toEqual([]);
  share = 0;
  await pass(1000);
  expect([isComplete(), asked.length]).toEqual([true, 20]);
});

test("the next scan begins in time where the clock is set back", async () => {
  const { asked, isComplete, pass } = await scanUnder(() => 0);
  await pass(1000);
  expect([isComplete(), asked.length]).toEqual([true, 20]);
  vi.setSystemTime(Date.now() - 86_400_000);
  await pass(9 * 60_000);
  expect(asked).toHaveLength(20);
  await pass(2 * 60_000);
  expect([isComplete(), asked.length]).toEqual([true, 40]);
});
