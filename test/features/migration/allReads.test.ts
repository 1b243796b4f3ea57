import { expect, test } from "vitest";
import { despite, staged, wrongType } from "./support.ts";

const who = { by: "Ada", why: "a quarter of an hour a week" };
const reads = { endpoints: "reads", ...who };
const undo = { stage: "former", by: "Ada", why: "too early" };

type Body = { moved: string[]; stayed: string[]; held: Record<string, string>; evidence: object; detail: string };

const post = async ({ operate }: Awaited<ReturnType<typeof staged>>, body: object) => {
  const answer = await operate("POST", "/stages", body);
  return { status: answer.status, body: answer.body as Body };
};

test("all reads move at once; reads in a later stage stay, and writes do not move", async () => {
  const migrating = await staged({ getDataset: { stage: "canary", share: 5 }, getSetup: { stage: "shadow" } });
  const { status, body } = await post(migrating, { stage: "shadow", ...reads });
  expect([status, body.stayed, body.held]).toEqual([200, ["getDataset", "getSetup"], {}]);
  const stages = migrating.migration.view();
  expect(body.moved).toContain("listDatasets");
  expect(body.moved.toSorted()).toEqual(
    Object.keys(stages)
      .filter((name) => stages[name]?.stage === "shadow" && name !== "getSetup")
      .toSorted(),
  );
  expect(stages).toMatchObject({ getDataset: { stage: "canary", share: 5 }, tagDataset: { stage: "legacy" } });
});

test("it is one entry of the audit log, and so is its undo", async () => {
  const migrating = await staged({});
  const { body } = await post(migrating, { stage: "shadow", share: 10, ...reads });
  const moves = body.moved.map((endpoint) => ({
    endpoint,
    from: { stage: "legacy", share: 100 },
    to: { stage: "shadow", share: 10 },
  }));
  const time = expect.any(String) as string;
  const entry = { at: time, all: time, ...who, moves: expect.arrayContaining(moves) as object };
  expect((await migrating.operate("GET", "/audit")).body).toEqual([entry]);
  // An operator has decided about this one since.
  await migrating.move("getDataset", { stage: "canary", share: 5, despite });
  const undone = await post(migrating, undo);
  expect(undone.body.moved.toSorted()).toEqual(body.moved.filter((name) => name !== "getDataset").toSorted());
  expect((await migrating.operate("GET", "/audit")).body).toMatchObject([
    { by: "Ada", why: "too early", undo: true },
    { endpoint: "getDataset" },
    entry,
  ]);
  expect(await post(migrating, undo)).toEqual({ status: 200, body: { moved: [] } });
});

test("the evidence holds up single reads, and the answer says which and why", async () => {
  const migrating = await staged(
    { getDataset: { stage: "shadow" }, getSetup: { stage: "shadow" } },
    { faults: [wrongType] },
  );
  for (const [path, endpoint] of [
    ["/datasets/61", "getDataset"],
    ["/setup/1", "getSetup"],
  ] as const) {
    await migrating.ask(path);
    await migrating.compared(endpoint, 1);
  }
  const { status, body } = await post(migrating, { stage: "canary", share: 5, ...reads });
  expect([status, body.moved, body.stayed]).toEqual([200, ["getSetup"], []]);
  expect(body.held).toMatchObject({
    getDataset: expect.stringContaining("1 of 1 compared request differs without a reason") as string,
    getTask: "nothing has been compared (put it in shadow first)",
  });
  const again = await post(migrating, { stage: "canary", share: 5, ...reads });
  expect([again.status, Object.keys(again.body.evidence)]).toEqual([409, Object.keys(body.held)]);
  // Each reason comes once, behind all that it holds up.
  expect(again.body.detail).toMatch(
    /^getDataset: 1 of 1 compared [^;]+; listDatasets, [\w, ]+: nothing has been compared \(put it in shadow first\)\. To move/,
  );
  const forced = await post(migrating, { stage: "canary", share: 5, ...reads, despite });
  expect(forced.body).toEqual({ moved: Object.keys(body.held), stayed: ["getSetup"], held: {} });
  expect(migrating.migration.stageOf("getDataset")).toMatchObject({ stage: "canary", share: 5 });
});

test("an undo takes back the last move of many alone", async () => {
  const migrating = await staged({ getSetup: { stage: "shadow" } });
  await migrating.ask("/setup/1");
  await migrating.compared("getSetup", 1);
  await post(migrating, { stage: "shadow", share: 10, ...reads });
  await post(migrating, { stage: "canary", share: 5, ...reads });
  expect((await post(migrating, undo)).body).toEqual({ moved: ["getSetup"] });
  expect(migrating.migration.stageOf("getSetup")).toMatchObject({ stage: "shadow", share: 10 });
  expect((await post(migrating, undo)).body).toEqual({ moved: [] });
  expect(migrating.migration.stageOf("getDataset").stage).toBe("shadow");
});

test.each([
  [
    { stage: "shadow" },
    "stage: legacy, former and lost move all endpoints, the other stages those that read; allowed is ",
  ],
  [{ stage: "legacy", endpoints: "reads" }, "stage: legacy, former and lost move all endpoints"],
  [{ stage: "shadow", endpoints: "writes" }, "endpoints: "],
  [{ stage: "canary", share: 101, endpoints: "reads" }, "share: "],
])("a move of many that is asked for as %j is refused by the field's name", async (body, detail) => {
  const migrating = await staged({});
  expect(await post(migrating, { ...who, ...body })).toEqual({
    status: 422,
    body: { detail: expect.stringContaining(detail) as string },
  });
  expect(migrating.migration.audit()).toEqual([]);
});
