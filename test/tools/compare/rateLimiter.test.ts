import { expect, onTestFinished, test, vi } from "vitest";
import { openRateLimiter } from "../../../tools/compare/rateLimiter.ts";

const { signal } = new AbortController();

/** The clock, which only `pass` advances, from 0. */
const clock = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  return { pass: (ms: number) => vi.advanceTimersByTimeAsync(ms) };
};

const wait = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms));

/** A limiter of 100 requests a second on that clock. `took`: when each turn came. */
const limited = () => {
  const { pass } = clock();
  const takeTurn = openRateLimiter(100, wait);
  const took: number[] = [];
  return { pass, took, turn: async () => void took.push((await takeTurn(signal), performance.now())) };
};

test("requests go out at their rate on average, however slow each is", async () => {
  const { pass, took, turn } = limited();
  void (async () => {
    for (const ms of [0, 4, 9, 25, 0, 4]) {
      await turn();
      await wait(ms);
    }
  })();
  await pass(1000);
  expect(took).toEqual([0, 10, 20, 30, 55, 65]);
});

test("requests that wait at the same time go out one after the other", async () => {
  const { pass, took, turn } = limited();
  for (let i = 0; i < 5; i++) void turn();
  await pass(1000);
  expect(took).toEqual([0, 10, 20, 30, 40]);
});

test("a pause saves up no burst", async () => {
  const { pass, took, turn } = limited();
  await turn();
  await pass(200);
  for (let i = 0; i < 4; i++) void turn();
  await pass(1000);
  expect(took).toEqual([0, 200, 210, 220, 230]);
});

test("a rate of 0 is no limit", async () => {
  const takeTurn = openRateLimiter(0);
  clock();
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
