import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openBreaker } from "../../../src/gateway/upstream/breaker.ts";
import { type FailureKind, UpstreamFailure } from "../../../src/gateway/upstream/failure.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const open = { why: "the circuit is open" };

type Who = { key?: string; client?: string };

/** A backend that fails at paths that begin with `/bad`, and answers all others. */
const backend = (kind: FailureKind = "broken", outage?: Parameters<typeof openBreaker>[1]) => {
  const state = { asked: 0 };
  let hold: Promise<void> | undefined;
  const breaker = openBreaker(undefined, outage);
  const call = async (path: string) => {
    state.asked++;
    await hold;
    if (path.startsWith("/bad")) throw new UpstreamFailure(kind, { method: "GET", path });
    return { status: 200 };
  };
  const ask = async (path: string, caller: Who = { client: "192.0.2.1" }) => {
    const answered = breaker.execute({ request: () => path, caller }, () => call(path));
    return (await answered.catch(() => ({ why: "it broke" }))) ?? open;
  };
  /** Until it is called, no answer comes. */
  const holding = () => {
    let release = () => {};
    hold = new Promise((resolve) => (release = resolve));
    return () => {
      hold = undefined;
      release();
    };
  };
  /** From now on it fails in this way. */
  const fail = (next: FailureKind) => void (kind = next);
  return { state, ask, holding, fail };
};

/** Five requests that break it, by three callers. */
const breakIt = async (ask: ReturnType<typeof backend>["ask"]) => {
  for (let i = 0; i < 5; i++) await ask(`/bad/${i}`, { client: `192.0.2.${i % 3}` });
};

test("a backend that fails is left alone, then one call tries it and no other waits", async () => {
  const { state, ask, holding } = backend();
  await breakIt(ask);
  expect(await ask("/good")).toMatchObject(open);
  const before = state.asked;
  vi.advanceTimersByTime(5001);
  const release = holding();
  const probe = ask("/good");
  await Promise.resolve();
  expect(await ask("/good")).toMatchObject(open);
  expect(state.asked).toBe(before + 1);
  release();
  expect(await probe).toMatchObject({ status: 200 });
  expect(await ask("/good")).toMatchObject({ status: 200 });
  // The failures before it do not count any more.
  expect(await ask("/bad/9")).toMatchObject({ why: "it broke" });
  expect(await ask("/good")).toMatchObject({ status: 200 });
});

test("a slow probe does not hold up other probes, and gets its answer", async () => {
  const { ask, holding } = backend();
  await breakIt(ask);
  vi.advanceTimersByTime(5001);
  const release = holding();
  const slow = ask("/good", { client: "203.0.113.9" });
  await vi.advanceTimersByTimeAsync(5001);
  release();
  await vi.advanceTimersByTimeAsync(5001);
  expect(await ask("/good", { client: "198.51.100.1" })).toMatchObject({ status: 200 });
  expect(await slow).toMatchObject({ status: 200 });
});

test("five failed connections of one caller open it", async () => {
  const { ask } = backend("unreachable");
  for (let i = 0; i < 5; i++) expect(await ask("/bad")).toMatchObject({ why: "it broke" });
  expect(await ask("/good")).toMatchObject(open);
});

test.each<{ title: string; who: (i: number) => Who }>([
  { title: "one address", who: () => ({ client: "192.0.2.1" }) },
  { title: "one key from many addresses", who: (i) => ({ key: "a", client: `192.0.2.${i % 250}` }) },
  { title: "one key in several spellings", who: (i) => ({ key: i % 2 === 0 ? "key" : i % 3 === 0 ? "Key" : "KEY" }) },
  { title: "one network of IPv6", who: (i) => ({ client: `2001:db8::${(i + 1).toString(16)}` }) },
  { title: "an address and a key", who: (i) => (i % 2 === 0 ? { client: "192.0.2.1" } : { key: "a" }) },
])("any number of requests by $title that break it open nothing", async ({ who }) => {
  const { state, ask } = backend();
  for (let i = 0; i < 1000; i++) {
    await ask(`/bad/${i}`, who(i));
    vi.advanceTimersByTime(10);
  }
  expect(state.asked).toBe(1000);
  expect(await ask("/good", { client: "198.51.100.1" })).toMatchObject({ status: 200 });
});

test("one request that breaks it opens nothing, by any caller", async () => {
  const { ask } = backend();
  for (let i = 0; i < 100; i++)
    expect(await ask("/bad", { client: `192.0.2.${i}` })).toMatchObject({ why: "it broke" });
  expect(await ask("/good")).toMatchObject({ status: 200 });
});

test("old failures, or fewer than half of all calls, open nothing", async () => {
  const { ask } = backend();
  for (let i = 0; i < 12; i++) {
    await ask(`/bad/${i}`, { client: `192.0.2.${i}` });
    vi.advanceTimersByTime(2600);
  }
  expect(await ask("/good")).toMatchObject({ status: 200 });
  const busy = backend();
  for (let i = 0; i < 12; i++) {
    await busy.ask(`/bad/${i}`, { client: `192.0.2.${i}` });
    await busy.ask("/good");
    await busy.ask("/good");
  }
  expect(await busy.ask("/good")).toMatchObject({ status: 200 });
});

test("a caller whose request breaks the backend cannot keep the circuit open", async () => {
  const { state, ask } = backend();
  await breakIt(ask);
  const evil = { client: "203.0.113.9" };
  vi.advanceTimersByTime(5001);
  expect(await ask("/bad/10", evil)).toMatchObject({ why: "it broke" });
  vi.advanceTimersByTime(5001);
  const before = state.asked;
  expect(await ask("/bad/11", evil)).toMatchObject(open);
  expect(state.asked).toBe(before);
  expect(await ask("/good")).toMatchObject({ status: 200 });
  expect(await ask("/good", evil)).toMatchObject({ status: 200 });
});

test("a clock that is set back keeps no circuit open, and no caller from finding out", async () => {
  const { ask } = backend();
  const hour = 3_600_000;
  await breakIt(ask);
  vi.setSystemTime(Date.now() - hour);
  vi.advanceTimersByTime(5001);
  const only = { client: "203.0.113.9" };
  expect(await ask("/bad/10", only)).toMatchObject({ why: "it broke" });
  vi.setSystemTime(Date.now() - hour);
  vi.advanceTimersByTime(15_001);
  expect(await ask("/good", only)).toMatchObject({ status: 200 });
});

test("a clock that is set back keeps no old failures", async () => {
  const { ask } = backend();
  for (let i = 0; i < 4; i++) await ask(`/bad/${i}`, { client: `192.0.2.${i}` });
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(11_000);
  await ask("/bad/4", { client: "192.0.2.4" });
  expect(await ask("/good")).toMatchObject({ status: 200 });
});

test.each(["overloaded", "crowded", "aborted"] as const)("a probe that says nothing is no probe: %s", async (kind) => {
  const { ask, fail } = backend();
  await breakIt(ask);
  vi.advanceTimersByTime(5001);
  fail(kind);
  expect(await ask("/bad/9", { client: "203.0.113.9" })).toMatchObject({ why: "it broke" });
  fail("broken");
  expect(await ask("/bad/10", { client: "198.51.100.1" })).toMatchObject({ why: "it broke" });
  expect(await ask("/good")).toMatchObject(open);
});

test("with one caller it opens by failures, whoever asked", async () => {
  const { ask } = backend("broken", { seconds: 10, calls: 5, callers: 1 });
  for (let i = 0; i < 4; i++) expect(await ask("/bad")).toMatchObject({ why: "it broke" });
  expect(await ask("/bad")).toMatchObject({ why: "it broke" });
  expect(await ask("/good")).toMatchObject(open);
});

test("a caller who is the only one finds out later", async () => {
  const { ask } = backend();
  await breakIt(ask);
  const only = { client: "203.0.113.9" };
  vi.advanceTimersByTime(5001);
  await ask("/bad/10", only);
  vi.advanceTimersByTime(15_001);
  expect(await ask("/good", only)).toMatchObject({ status: 200 });
});

test.each(["overloaded", "crowded"] as const)("what is not its fault opens nothing: %s", async (kind) => {
  const { ask } = backend(kind);
  for (let i = 0; i < 100; i++) await ask(`/bad/${i}`, { client: `192.0.2.${i}` });
  expect(await ask("/good")).toMatchObject({ status: 200 });
});

test("whatever two callers ask, a third is served", async () => {
  const call = fc.record({ path: fc.nat(30), caller: fc.nat(1), ms: fc.nat(3000) });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 60 }), async (calls) => {
      const { ask } = backend();
      for (const { path, caller, ms } of calls) {
        await ask(`/bad/${path}`, { client: `192.0.2.${caller}` });
        vi.advanceTimersByTime(ms);
      }
      expect(await ask("/good", { client: "198.51.100.1" })).toMatchObject({ status: 200 });
    }),
    { numRuns: 100 },
  );
});

test("a call begun before it opened decides nothing about the probe", async () => {
  const { ask, holding } = backend();
  const releaseEarly = holding();
  const early = ask("/bad/99", { client: "198.51.100.7" });
  // The others are not held.
  holding()();
  await breakIt(ask);
  vi.advanceTimersByTime(5001);
  const releaseProbe = holding();
  const probe = ask("/good");
  releaseEarly();
  expect(await early).toMatchObject({ why: "it broke" });
  expect(await ask("/good")).toMatchObject(open);
  releaseProbe();
  expect(await probe).toMatchObject({ status: 200 });
  expect(await ask("/good")).toMatchObject({ status: 200 });
});
