import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { operatorsOf, headingOf, textOf } from "../console/page/operators.ts";
import { until } from "../../support/waiting.ts";
import { despite, type Staged, staged } from "./support.ts";

let later = 0;
beforeEach(() => {
  later = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + later);
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Lets so much time pass, in milliseconds. */
const pass = (ms: number): void => {
  later += ms;
  vi.advanceTimersByTime(ms);
};

/** Modern as operators see it: the heading, the open circuits, its state in `/readyz?verbose`. */
const seen = async (opened: Staged) => {
  const { app, markup } = await operatorsOf(opened);
  const page = await markup();
  const ready = await app.request("/readyz?verbose", { headers: { Host: "127.0.0.1" } });
  const { dependencies } = (await ready.json()) as { dependencies: { name: string; state: string }[] };
  return {
    page,
    heading: textOf(headingOf(page)).trim(),
    open: opened.gateway.core.meter.openCircuits(),
    modern: dependencies.find(({ name }) => name === "modern")?.state,
  };
};

/** A gateway whose modern has gone away: its circuit is open. */
const incident = async () => {
  const opened = await staged({ getDataset: { stage: "modern", share: 0 } });
  await opened.ask("/datasets/61");
  opened.modern.use([{ endpoint: "*", fault: "down" }]);
  for (const id of [1, 2]) expect((await opened.ask(`/datasets/${id}`)).status).toBe(200);
  // A caller finds out that it is still away.
  later += 5001;
  expect((await opened.ask("/datasets/3")).status).toBe(200);
  return opened;
};

test("with all in legacy no trouble of modern is shown, and its circuit closes", async () => {
  const opened = await incident();
  await opened.operate("POST", "/stages", { stage: "legacy", by: "Grace", why: "an incident" });
  const { page, ...state } = await seen(opened);
  expect(state).toEqual({
    heading: expect.stringMatching(/^Legacy has answered everything since \d\d:\d\d UTC, by Grace: an incident /),
    open: ["modern"],
    modern: "failed",
  });
  expect(textOf(page)).toMatch(/by Grace: an incident.* Undo “Everything back to legacy”/);
  expect(textOf(page)).not.toContain("Move one endpoint");

  const asked = () => opened.modern.asked()["getDataset"] ?? 0;
  const before = asked();
  pass(15_000);
  // A GET is sent once more where its connection breaks.
  await until(() => asked() === before + 2);
  expect((await seen(opened)).open).toEqual(["modern"]);
  opened.modern.use([]);
  pass(15_000);
  await until(async () => (await seen(opened)).open.length === 0);
  expect((await seen(opened)).modern).toBe("ok");
  // Modern was asked for an answer it had given before, and is not asked any more.
  pass(15_000);
  expect(asked()).toBe(1);
});

test("a comparison closes the circuit where no caller has asked modern for a while", async () => {
  const opened = await incident();
  await opened.move("getDataset", { stage: "shadow", share: 100 });
  opened.modern.use([]);
  await opened.ask("/datasets/2");
  await opened.compared("getDataset", 1);
  const before = await seen(opened);
  expect([before.open, before.heading]).toEqual([["modern"], expect.stringMatching(/^Nothing unexplained/)]);
  later += 15_000;
  await opened.ask("/datasets/3");
  await opened.compared("getDataset", 2);
  expect(await seen(opened)).toMatchObject({ open: [], modern: "ok" });
  await opened.move("getDataset", { stage: "modern", share: 0, despite });
  expect((await opened.ask("/datasets/2")).decision).toContain("backend=modern");
});
