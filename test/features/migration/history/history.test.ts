import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openHistory } from "../../../../src/features/migration/history/history.ts";
import { historyRangeNames, historyRanges } from "../../../../src/features/migration/history/slot.ts";
import { memoryStore } from "../../../../src/store/localStore.ts";
import { openKeyedStore } from "../../../../src/store/openKeyedStore.ts";

const HOUR = 3_600_000;
const noon = Date.UTC(2026, 10, 21, 12);

const opened = async (parts: { directory?: string; store?: ReturnType<typeof memoryStore<never>> } = {}) => {
  const clock = { at: noon };
  const errors: string[] = [];
  let keys = (): readonly string[] => [];
  const history = await openHistory(
    async (about) => {
      const store = parts.store ?? (await openKeyedStore({ DATA_DIR: parts.directory }, about));
      keys = () => [...store.entries().keys()];
      return store;
    },
    { endpoints: ["getThing", "listThings"], onError: ({ message }) => errors.push(message), now: () => clock.at },
  );
  onTestFinished(() => history.close());
  return { history, clock, errors, keys: () => keys() };
};

test("what happens is counted in all three ranges, by endpoint and together", async () => {
  const { history, clock } = await opened();
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

test("a restart is marked, and loses nothing that was stored", async () => {
  const directory = mkdtempSync(join(tmpdir(), "history-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const first = await opened({ directory });
  first.history.of("getThing").answered(true);
  await first.history.close();
  const second = await opened({ directory });
  second.clock.at += HOUR;
  second.history.of("getThing").answered(false);
  await second.history.flush();
  expect(second.history.starts()).toEqual([noon, noon]);
  expect(second.history.points("14d", "getThing").at(-1)).toMatchObject({ requests: 2, hits: 1 });
});

test("gateways that share a store see the sum of all", async () => {
  const store = memoryStore<never>({
    schema: () => ({ parse: (value: unknown) => value }) as never,
    onEvent: () => {},
  });
  const [one, other] = [await opened({ store }), await opened({ store })];
  one.history.of("getThing").answered(true);
  other.history.of("getThing").answered(false);
  await one.history.flush();
  await other.history.flush();
  for (const { history } of [one, other])
    expect(history.points("24h", "getThing").at(-1)).toMatchObject({ requests: 2, hits: 1 });
  expect(one.history.starts()).toHaveLength(2);
});

test("a store that fails loses no count, and a long run takes no more room", async () => {
  let fails = true;
  const inner = memoryStore<never>({
    schema: () => ({ parse: (value: unknown) => value }) as never,
    onEvent: () => {},
  });
  const store: typeof inner = {
    ...inner,
    update: (...about) => (fails ? Promise.reject(new Error("the disk is full")) : inner.update(...about)),
  };
  const { history, clock, errors, keys } = await opened({ store });
  const thing = history.of("getThing");
  thing.answered(true);
  await history.flush();
  expect(errors).toContain("the disk is full");
  thing.answered(true);
  fails = false;
  await history.flush();
  expect(history.points("24h", "getThing").at(-1)?.requests).toBe(2);
  for (let hour = 0; hour < 24 * 40; hour++) {
    clock.at += HOUR + 30_000;
    thing.answered(true);
    await history.flush();
  }
  const most = historyRangeNames.reduce((sum, name) => sum + historyRanges[name].slots, 0);
  // And the starts.
  expect(keys().length).toBeLessThanOrEqual(most + 1);
});
