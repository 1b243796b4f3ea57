import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openPace } from "../../../src/features/privateDatasets/pace.ts";

const { signal } = new AbortController();
const isBusy = () => false;

const took = async (what: () => Promise<unknown>) => {
  const start = performance.now();
  await what();
  return performance.now() - start;
};

test("so many requests a second go out on average, however slow each is, and no more", async () => {
  const pace = openPace({ rate: 100, isBusy, signal });
  const ms = await took(async () => {
    for (let i = 0; i <= 30; i++) {
      expect(await pace()).toBe(true);
      if (i % 3 === 0) await sleep(4);
    }
  });
  // The last but one ends a wait; a pause is caught up by one request at most.
  expect(ms).toBeGreaterThan(285);
});

test("what a pause has saved is no burst", async () => {
  const pace = openPace({ rate: 100, isBusy, signal });
  await pace();
  await sleep(200);
  expect(
    await took(async () => {
      for (let i = 0; i < 7; i++) await pace();
    }),
  ).toBeGreaterThan(45);
});

test("callers go first, until they are through", async () => {
  let looks = 0;
  const pace = openPace({ rate: 1e6, isBusy: () => ++looks < 4, signal });
  expect([await pace(), looks]).toEqual([true, 4]);
});

test("callers who never pause go first for a second, each time", async () => {
  let looks = 0;
  const pace = openPace({ rate: 1e6, isBusy: () => ++looks > 0, signal });
  const ms = await took(async () => expect(await pace()).toBe(true));
  expect(ms).toBeGreaterThan(990);
  expect(looks).toBeLessThanOrEqual(60);
});

test.each([
  ["while it waits for its turn", 1e-3, () => false],
  ["while callers go first", 1e6, () => true],
])("its signal ends it: %s", async (_, rate, busy) => {
  const stopping = new AbortController();
  let isFirst = true;
  const pace = openPace({ rate, isBusy: () => !isFirst && busy(), signal: stopping.signal });
  expect(await pace()).toBe(true);
  isFirst = false;
  const next = pace();
  stopping.abort();
  expect([await next, await pace()]).toEqual([false, false]);
});

test("after its signal there is no turn, even for who need not wait", async () => {
  const pace = openPace({ rate: 1e6, isBusy, signal: AbortSignal.abort() });
  expect(await pace()).toBe(false);
});
