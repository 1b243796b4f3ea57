import { describe, expect, test } from "vitest";
import type { Parity } from "../../../features/migration/views.ts";
import { until } from "../../support/waiting.ts";
import { staged, wrongType } from "./support.ts";

const canary = { stage: "canary", share: 5, by: "Ada", why: "a try" } as const;

describe("a step towards modern", () => {
  test("a step towards modern is 409, with evidence, while answers are unexplained", async () => {
    const { ask, compared, move, migration } = await staged(
      { getDataset: { stage: "shadow" } },
      { faults: [wrongType] },
    );
    for (const id of [1, 2, 3, 61]) await ask(`/datasets/${id}`);
    await compared("getDataset", 4);
    const moveDataset = (to: object) => move("getDataset", to);
    const why = "4 of 4 compared requests differ without a reason (fix modern, or allow the differences in the ledger)";
    const refused = await moveDataset(canary);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        detail: `getDataset: ${why}. To move anyway, give the reason as "despite".`,
        evidence: { compared: 4, unexplained: 4 },
      },
    });
    expect(migration.viewOf("getDataset")).toMatchObject({ stage: "shadow", against: why });
    expect(await moveDataset({ ...canary, despite: " " })).toMatchObject({ status: 422 });
    expect(await moveDataset({ ...canary, despite: "only one caller" })).toMatchObject({ status: 200 });
    // The move has not emptied the evidence, and a move back is free.
    expect(await moveDataset({ ...canary, share: 10 })).toMatchObject({
      status: 409,
      body: { evidence: { unexplained: 4 } },
    });
    for (const to of ["legacy", "shadow"])
      expect(await moveDataset({ stage: to, by: "Ada", why: "back" })).toMatchObject({ status: 200 });
    expect(await moveDataset(canary)).toMatchObject({ status: 409 });
    expect(migration.audit().map(({ to, despite }) => [to.stage, despite])).toEqual([
      ["shadow", undefined],
      ["legacy", undefined],
      ["canary", "only one caller"],
    ]);
  });

  test("a step towards modern is 409 until requests were compared and agree", async () => {
    const { ask, compared, move, migration } = await staged({});
    expect(migration.viewOf("getDataset").against).toBe("nothing has been compared (put it in shadow first)");
    expect(await move("getDataset", { stage: "shadow" })).toMatchObject({ status: 200 });
    expect(await move("getDataset", { stage: "modern" })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("nothing has been compared yet.") as string, evidence: { compared: 0 } },
    });
    await ask("/datasets/61");
    await compared("getDataset", 1);
    expect(await move("getDataset", { stage: "modern" })).toMatchObject({ status: 200 });
  });

  test("a step of a write needs a reason, since writes are never compared", async () => {
    const { move } = await staged({});
    const moveTag = (to: object) => move("tagDataset", { by: "Ada", why: "one database", ...to });
    expect(await moveTag({ stage: "shadow" })).toMatchObject({ status: 200 });
    expect(await moveTag({ stage: "modern" })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("writes are never compared") as string },
    });
    expect(await moveTag({ stage: "modern", despite: "tried on the copy" })).toMatchObject({ status: 200 });
  });

  test("a step by the configuration is not held up, but logged as a warning", async () => {
    const { migration, observer } = await staged({
      getDataset: { stage: "canary", share: 5 },
      getStudy: { stage: "shadow" },
    });
    expect(migration.stageOf("getDataset").stage).toBe("canary");
    expect(observer.counts()["stages_unproven"]).toBe(1);
    await migration.configure({ getStudy: { stage: "modern", share: 100 } }, []);
    expect(migration.stageOf("getStudy").stage).toBe("modern");
    expect(observer.counts()["stages_unproven"]).toBe(2);
  });
});

test("one request is one piece of evidence, however often it is compared", async () => {
  const gate = { parity: 0.5, requests: 1, minutes: 0, errorRate: 1, p95: 60_000, hold: 0 };
  const { ask, compared, operate, migration } = await staged(
    { listEvaluationMeasures: { stage: "shadow", gate } },
    { environment: { MIRROR_RATE: "1000" } },
  );
  for (let i = 0; i < 30; i++) await ask("/evaluationmeasures/list");
  await compared("listEvaluationMeasures", 30);
  await until(() => migration.viewOf("listEvaluationMeasures").gateSays?.includes("parity") === true);
  const { body } = await operate("GET", "/stages/listEvaluationMeasures");
  expect(body).toMatchObject({
    stage: "shadow",
    gateSays: "held: a parity of 20.65 % is proven, 50.00 % is needed",
    parity: { compared: 1, equal: 1 } satisfies Partial<Parity>,
  });
});

test("everything back to legacy can be undone, with one reason for all", async () => {
  const { ask, compared, operate, move, migration } = await staged(
    {
      getDataset: { stage: "canary", share: 50 },
      getSetup: { stage: "canary", share: 25 },
      getStudy: { stage: "shadow", share: 10 },
      findFlow: { stage: "modern" },
    },
    // No rule makes a text of a number, so that legacy answers.
    { faults: [{ ...wrongType, path: "/name" }] },
  );
  await ask("/datasets/61");
  await ask("/setup/1");
  await compared("getDataset", 1);
  await compared("getSetup", 1);
  const who = { by: "Ada", why: "an outage" };
  expect(await operate("POST", "/stages", { stage: "legacy", by: "Ada" })).toMatchObject({ status: 422 });
  const { status, body } = await operate("POST", "/stages", { stage: "legacy", ...who });
  expect([status, body]).toEqual([200, { moved: ["getDataset", "getSetup", "getStudy", "findFlow"] }]);
  expect(Object.values(migration.view()).every(({ stage }) => stage === "legacy")).toBe(true);
  for (const line of migration.audit()) expect(line).toMatchObject(who);
  expect(migration.audit()).toHaveLength(4);
  // An operator has decided about this one since.
  await move("findFlow", { stage: "shadow", ...who });
  // A second time, as after a move that could not be stored, it takes nothing from what can be undone.
  await move("getStudy", { stage: "shadow", share: 10, ...who });
  await operate("POST", "/stages", { stage: "legacy", ...who });
  await move("findFlow", { stage: "shadow", ...who });
  expect(migration.viewOf("getDataset").former).toEqual({ stage: "canary", share: 50 });
  expect(migration.viewOf("findFlow").former).toBeUndefined();
  const undo = { stage: "former", by: "Ada", why: "it was the network" };
  const refused = await operate("POST", "/stages", undo);
  expect(refused).toMatchObject({ status: 409, body: { evidence: { getDataset: { unexplained: 1 } } } });
  expect(Object.keys((refused.body as { evidence: object }).evidence)).toEqual(["getDataset"]);
  expect(migration.stageOf("getSetup").stage).toBe("legacy");
  const undone = await operate("POST", "/stages", { ...undo, despite: "known, and harmless" });
  expect(undone).toEqual({ status: 200, body: { moved: ["getDataset", "getSetup", "getStudy"] } });
  const stages = Object.entries(migration.view()).flatMap(([endpoint, { stage, share }]) =>
    stage === "legacy" ? [] : `${endpoint} ${stage} ${share}`,
  );
  expect(stages.toSorted()).toEqual([
    "findFlow shadow 100",
    "getDataset canary 50",
    "getSetup canary 25",
    "getStudy shadow 10",
  ]);
  const reasons = migration
    .audit()
    .flatMap(({ endpoint, despite }) => (despite === undefined ? [] : [[endpoint, despite]]));
  expect(reasons).toEqual([["getDataset", "known, and harmless"]]);
  // There is nothing left to undo.
  expect(await operate("POST", "/stages", undo)).toEqual({ status: 200, body: { moved: [] } });
});
