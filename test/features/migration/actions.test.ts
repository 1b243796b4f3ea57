import { expect, test } from "vitest";
import { gateSchema } from "../../../features/migration/stage.ts";
import { openStageStore } from "../../../features/migration/stageStore.ts";
import { memoryStores } from "../../../libraries/stores/openStores.ts";
import { despite, staged } from "./support.ts";
import { until } from "../../support/waiting.ts";

const gate = gateSchema.parse({ parity: 0.5, requests: 1, minutes: 0 });

test.each(["by", "why"])("a move whose %s is missing, empty or blank is refused by its name", async (field) => {
  const { operate, migration } = await staged({});
  const moves = [
    ["/stages/getDataset", { stage: "shadow" }],
    ["/stages", { stage: "legacy" }],
  ] as const;
  for (const [path, to] of moves)
    for (const given of [undefined, "", " "]) {
      const { status, body } = await operate("POST", path, { by: "Ada", why: "a try", ...to, [field]: given });
      expect([status, body]).toEqual([422, { detail: expect.stringMatching(`^${field}: .*"by": "who"`) as string }]);
    }
  expect(migration.audit()).toEqual([]);
});

test("endpoints that could not go back to legacy are named", async () => {
  const store = await openStageStore(memoryStores());
  const update: typeof store.update = (endpoint, make) =>
    endpoint === "getStudy" ? Promise.reject(new Error("the disk is full")) : store.update(endpoint, make);
  const { operate } = await staged(
    { getDataset: { stage: "modern" }, getStudy: { stage: "modern" } },
    { parts: { store: { ...store, update } } },
  );
  expect(await operate("POST", "/stages", { stage: "legacy", by: "Ada", why: "an outage" })).toEqual({
    status: 503,
    body: {
      detail:
        "Moved: getDataset. Not moved: getStudy. If it is stored late, it may show for a moment and is taken back. Try again.",
      moved: ["getDataset"],
      failed: [{ endpoint: "getStudy", why: "the disk is full" }],
    },
  });
});

test("the configuration pauses and changes a gate, and its endpoint does not move", async () => {
  const gates = (change: object) => ({
    getDataset: { stage: "shadow" as const, share: 100, gate: { ...gate, ...change } },
  });
  const { move, migration, ask, compared } = await staged(gates({ paused: true }));
  await move("getDataset", { stage: "canary", share: 5, by: "Ada", why: "a try", despite });
  await ask("/datasets/61");
  await compared("getDataset", 1);
  await until(() => migration.viewOf("getDataset").gateSays === "paused: it moves nothing");
  await migration.configure(gates({ requests: 4000 }), []);
  await until(() => migration.viewOf("getDataset").gateSays === "held: 1 of 4000 distinct requests compared");
  expect(migration.viewOf("getDataset")).toMatchObject({
    stage: "canary",
    share: 5,
    by: "Ada",
    gate: { requests: 4000 },
  });
  expect(await move("getDataset", { stage: "canary", share: 6, gate })).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining("gates are set in STAGES") as string },
  });
  await migration.configure({ getDataset: { stage: "shadow", share: 100 } }, []);
  expect(migration.viewOf("getDataset")).toMatchObject({ stage: "canary", gate: undefined });
  expect(migration.viewOf("getDataset").gateSays).toContain("it goes back at 3 requests that differ");
  expect(migration.audit()).toHaveLength(1);
});
