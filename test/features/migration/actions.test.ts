import { expect, test } from "vitest";
import { gateSchema } from "../../../src/features/migration/stage.ts";
import { memoryStateStore } from "../../../src/features/migration/store/stateStore.ts";
import { staged } from "./support.ts";
import { settled } from "../../support/waiting.ts";

const gate = gateSchema.parse({ parity: 0.5, requests: 1, minutes: 0 });

test("one action moves everything to legacy, with who and why", async () => {
  const { operate, migration } = await staged({
    getDataset: { stage: "canary", share: 50 },
    getStudy: { stage: "modern" },
  });
  expect(await operate("POST", "/stages", { stage: "legacy", by: "Ada" })).toMatchObject({ status: 422 });
  const { status, body } = await operate("POST", "/stages", { stage: "legacy", by: "Ada", why: "an outage" });
  expect([status, body]).toEqual([200, { moved: ["getDataset", "getStudy"] }]);
  expect(Object.values(migration.view()).every(({ stage }) => stage === "legacy")).toBe(true);
  const moves = migration.audit().map(({ endpoint, by, why }) => `${endpoint} ${by} ${why}`);
  expect(moves.toSorted()).toEqual(["getDataset Ada an outage", "getStudy Ada an outage"]);
});

test("a move without who and why is recorded as such", async () => {
  const { operate, migration } = await staged({ getDataset: { stage: "shadow" } });
  const move = (who: object) => operate("POST", "/stages/getDataset", { stage: "canary", share: 5, ...who });
  const despite = "a test compares nothing";
  for (const who of [{ despite }, { by: "", why: " " }, { by: " Ada " }])
    expect(await move(who)).toMatchObject({ status: 200 });
  expect(migration.audit().map(({ by, why }) => [by, why])).toEqual([
    ["Ada", "not given"],
    ["not given", "not given"],
    ["not given", "not given"],
  ]);
});

test("what could not go back to legacy is named", async () => {
  const store = memoryStateStore();
  const move: typeof store.move = (endpoint, ...about) =>
    endpoint === "getStudy" ? Promise.reject(new Error("the disk is full")) : store.move(endpoint, ...about);
  const { operate } = await staged(
    { getDataset: { stage: "modern" }, getStudy: { stage: "modern" } },
    { parts: { store: { ...store, move } } },
  );
  expect(await operate("POST", "/stages", { stage: "legacy", by: "Ada", why: "an outage" })).toEqual({
    status: 503,
    body: {
      detail: "Moved: getDataset. Not moved: getStudy; try again.",
      moved: ["getDataset"],
      failed: [{ endpoint: "getStudy", why: "the disk is full" }],
    },
  });
});

test("a paused gate moves nothing, and keeps the evidence and the time of the move", async () => {
  const { operate, migration, ask, compared } = await staged({
    getDataset: { stage: "shadow", gate: { ...gate, paused: true } },
  });
  await ask("/datasets/61");
  await compared("getDataset", 1);
  const before = migration.viewOf("getDataset");
  const set = (json: unknown) => operate("POST", "/stages/getDataset/gate", json);
  expect(await set({ gate: { ...gate, parity: 2 }, by: "Ada", why: "a typo" })).toMatchObject({ status: 422 });
  expect(await set({ gate: { ...gate, paused: true, requests: 2 }, by: "Ada", why: "a slow start" })).toMatchObject({
    status: 200,
  });
  const after = migration.viewOf("getDataset");
  expect(after.parity).toEqual(before.parity);
  expect(after).toMatchObject({ movedAt: before.since, by: "configuration", gate: { requests: 2, paused: true } });
  await settled();
  expect(migration.viewOf("getDataset")).toMatchObject({ stage: "shadow", gateSays: "paused: it moves nothing" });
  await set({ gate: null, by: "Ada", why: "by hand" });
  expect(migration.viewOf("getDataset").gate).toBeUndefined();
  expect(migration.audit().map(({ gate: change, by, why }) => [change, by, why])).toEqual([
    ["removed", "Ada", "by hand"],
    ["set", "Ada", "a slow start"],
  ]);
});

test("GET /history gives the points of a range", async () => {
  const { operate, ask } = await staged({});
  await ask("/datasets/61");
  await ask("/datasets/61");
  const { body } = await operate("GET", "/history?endpoint=getDataset&range=30m");
  const { points, starts } = body as { points: { requests: number; hits: number }[]; starts: number[] };
  expect([points.length, starts.length]).toEqual([60, 1]);
  expect(points.reduce((sum, { requests }) => sum + requests, 0)).toBe(2);
  expect(points.reduce((sum, { hits }) => sum + hits, 0)).toBe(1);
  expect(await operate("GET", "/history?range=1y")).toMatchObject({ status: 422 });
  expect(await operate("GET", "/history?endpoint=getThing")).toMatchObject({ status: 404 });
});
