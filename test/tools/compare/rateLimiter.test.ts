import { expect, onTestFinished, test, vi } from "vitest";
import { openRateLimiter } from "../../../tools/compare/rateLimiter.ts";

const { signal } = new AbortController();

test("requests keep their rate: slow answers catch up, a pause saves up no burst", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const wait = (ms: number) => new Promise((resolve) => void setTimeout(resolve, ms));
  const takeTurn = openRateLimiter(100, wait);
  const took: number[] = [];
  void (async () => {
    for (const ms of [0, 4, 9, 25, 0, 200]) {
      took.push((await takeTurn(signal), performance.now()));
      await wait(ms);
    }
    for (let i = 0; i < 3; i++) void takeTurn(signal).then(() => took.push(performance.now()));
  })();
  await vi.advanceTimersByTimeAsync(1000);
  expect(took).toEqual([0, 10, 20, 30, 55, 65, 265, 275, 285]);
});

test("a rate of 0 is no limit", async () => {
  const takeTurn = openRateLimiter(0, () => expect.fail("it waits"));
  for (let i = 0; i < 1000; i++) await takeTurn(signal);
});

test("its signal ends a request that waits for its turn, and all later requests", async () => {
  const stopping = new AbortController();
  const takeTurn = openRateLimiter(1e-3);
  await takeTurn(stopping.signal);
  const next = takeTurn(stopping.signal);
  stopping.abort();
  await expect(next).rejects.toThrow("aborted");
  await expect(openRateLimiter(1e6)(stopping.signal)).rejects.toThrow("aborted");
});
