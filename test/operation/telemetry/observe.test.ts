import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openObserver } from "../../../src/operation/telemetry/observer.ts";
import { openPipe } from "./support.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const opened = () => {
  const pipe = openPipe();
  const observer = openObserver("info", pipe.writer());
  /** The lines of the log, once there are this many. */
  const lines = async (count: number): Promise<Record<string, unknown>[]> => {
    let text = "";
    await vi.waitFor(() => {
      text += pipe.read();
      expect(text.split("\n")).toHaveLength(count + 1);
    }, 5000);
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  return { observer, lines };
};

test("an event is logged ten times a second at most, and always counted", async () => {
  const { observer, lines } = opened();
  for (let i = 0; i < 5000; i++) observer.event("pass_through_failed", { kind: "broken" });
  observer.event("other", {});
  vi.advanceTimersByTime(1000);
  const logged = await lines(12);
  expect(logged.slice(0, 10).map(({ count }) => count)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(logged.slice(10)).toMatchObject([{ event: "other" }, { event: "pass_through_failed", suppressed: 4990 }]);
  observer.event("pass_through_failed", { kind: "broken" });
  expect(await lines(1)).toMatchObject([{ event: "pass_through_failed", count: 5001 }]);
  expect(observer.counts()).toEqual({ pass_through_failed: 5001, other: 1 });
});

test("long texts and lists are cut, and a fault of the gateway is an error", async () => {
  const { observer, lines } = opened();
  observer.event("internal_error", { error: "e".repeat(100_000), places: Array.from({ length: 1000 }, () => "p") });
  const [line] = await lines(1);
  expect(line).toMatchObject({ level: 50, error: `${"e".repeat(1999)}…` });
  expect(line?.["places"]).toHaveLength(20);
});

test("a fault is logged once a second for each place, without quoted texts", async () => {
  const { observer, lines } = opened();
  const fail = (): Error => new Error(`no "in" for ${"a1".repeat(16)}`);
  for (let i = 0; i < 5; i++) observer.fault(fail());
  observer.fault(new TypeError("other"));
  observer.fault("no error");
  vi.advanceTimersByTime(1000);
  const logged = await lines(4);
  expect(logged.map(({ level, place, count, suppressed }) => [level, place, count, suppressed])).toEqual([
    [50, expect.stringMatching(/observe\.test\.ts:\d+:\d+$/), 1, undefined],
    [50, expect.stringMatching(/observe\.test\.ts:\d+:\d+$/), 6, undefined],
    [50, "unknown", 7, undefined],
    [50, expect.stringMatching(/observe\.test\.ts:\d+:\d+$/), undefined, 4],
  ]);
  expect(logged[0]?.["error"]).toMatch(/^Error: no "in" for \(\.\.\.\)\n {4}at /);
  expect(observer.counts()).toEqual({ internal_error: 7 });
});

test("an error whose stack cannot be read is logged and counted", async () => {
  const { observer, lines } = opened();
  const unreadable = () => {
    throw new Error("planted");
  };
  observer.fault(Object.defineProperty(new Error("a"), "stack", { get: unreadable }));
  observer.fault(Object.assign(new Error("b"), { stack: 5 }));
  observer.fault(new Proxy({}, { getPrototypeOf: unreadable }));
  expect(await lines(1)).toMatchObject([{ level: 50, error: "What was thrown has no stack that can be read." }]);
  expect(observer.counts()).toEqual({ internal_error: 3 });
});

test.each([
  ["at open (file:///opt/gw/src/gateway/server.ts:3:4)", "gateway/server.ts:3:4"],
  ["at file:///opt/gw/features/webhook/feature.ts:3:4", "features/webhook/feature.ts:3:4"],
  ["at read (file:///opt/gw/node_modules/undici/lib/features/x.js:3:4)", "undici/lib/features/x.js:3:4"],
])("the place of %s in a stack is %s", async (frame, place) => {
  const { observer, lines } = opened();
  observer.fault(Object.assign(new Error("planted"), { stack: `Error: planted\n    ${frame}` }));
  expect(await lines(1)).toMatchObject([{ place }]);
});

test("fields with foreign names fill no memory, and hide no event", () => {
  const observer = openObserver("silent");
  for (let i = 0; i < 5000; i++) observer.event("unknown_field", { endpoint: "getDataset", field: `f${i}` });
  expect(Object.keys(observer.counts())).toHaveLength(1000);
  observer.event("legacy_failed", { endpoint: "getDataset" });
  expect(observer.counts()).toMatchObject({ "legacy_failed getDataset": 1 });
});
