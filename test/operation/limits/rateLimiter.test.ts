import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { openRateLimiter } from "../../../src/operation/limits/rateLimiter.ts";

const { signal } = new AbortController();
const RATE = 100;
/** Milliseconds that so many turns behind the first one take at least: timers may be early, so half of it. */
const atLeast = (turns: number) => (turns * 1000) / RATE / 2;

const took = async (what: () => Promise<unknown>) => {
  const start = performance.now();
  await what();
  return performance.now() - start;
};

test("requests go out at their rate on average, however slow each is", async () => {
  const takeTurn = openRateLimiter(RATE);
  const ms = await took(async () => {
    for (let i = 0; i <= 30; i++) {
      await takeTurn(signal);
      if (i % 3 === 0) await sleep(4);
    }
  });
  expect(ms).toBeGreaterThan(atLeast(30));
});

test("requests that wait at the same time go out one after the other", async () => {
  const takeTurn = openRateLimiter(RATE);
  expect(await took(() => Promise.all([1, 2, 3, 4, 5].map(() => takeTurn(signal))))).toBeGreaterThan(atLeast(4));
});

test("a pause saves up no burst", async () => {
  const takeTurn = openRateLimiter(RATE);
  await takeTurn(signal);
  await sleep(200);
  expect(
    await took(async () => {
      for (let i = 0; i < 7; i++) await takeTurn(signal);
    }),
  ).toBeGreaterThan(atLeast(6));
});

test("a rate of 0 is no limit", async () => {
  const takeTurn = openRateLimiter(0);
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  // The clock stands still.
  for (let i = 0; i < 1000; i++) await takeTurn(signal);
  expect(vi.getTimerCount()).toBe(0);
});

test("its signal ends a request that waits for its turn", async () => {
  const stopping = new AbortController();
  const takeTurn = openRateLimiter(1e-3);
  await takeTurn(stopping.signal);
  const next = takeTurn(stopping.signal);
  stopping.abort();
  await expect(next).rejects.toThrow("aborted");
  await expect(takeTurn(stopping.signal)).rejects.toThrow("aborted");
});

test("after its signal a request gets no turn, even if it need not wait", async () => {
  await expect(openRateLimiter(1e6)(AbortSignal.abort())).rejects.toThrow("aborted");
});
