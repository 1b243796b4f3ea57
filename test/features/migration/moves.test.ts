import { describe, expect, test } from "vitest";
import { gateSchema } from "../../../features/migration/stage.ts";
import { openStageStore } from "../../../features/migration/stageStore.ts";
import type { StagesView } from "../../../features/migration/migration.ts";
import { memoryStores } from "../../../libraries/stores/openStores.ts";
import type { Fault } from "../../standIn/faults.ts";
import { until } from "../../support/waiting.ts";
import { despite, known, type Staged, staged, wrongType } from "./support.ts";

type Body = { detail?: string; moved?: string[]; stayed?: string[]; held?: Record<string, string> };

const who = { by: "Ada", why: "a try" };

/** The answer to a move: its status, and the reason or what was moved. */
const answerText = (status: number, { detail, moved, stayed, held }: Body): string => {
  const parts = { moved, stayed, held: held && Object.entries(held).map(([name, why]) => `${name} (${why})`) };
  const lists = Object.entries(parts).flatMap(([name, list]) => (list ? [`${name}: ${list.join(", ")}`] : []));
  return [status, detail ?? lists.join("; ")].join(" ").trim();
};

/**
 * Does what a line says: `compare /datasets/61` asks for an answer of this endpoint and waits for its comparison,
 * `getDataset canary 5` moves it, `all legacy` moves all endpoints, and `reads shadow 10` those that read. A line that
 * ends with `!` gives a reason against the evidence; `reasons` names the endpoints for which one was stored.
 */
const play = async ({ ask, compared, operate, migration }: Staged, line: string): Promise<string> => {
  const [subject = "", stage = "", share] = line.replace("!", "").trim().split(" ");
  if (subject === "compare") {
    const endpoint = stage.startsWith("/setup") ? "getSetup" : "getDataset";
    const before = migration.viewOf(endpoint).parity.compared;
    await ask(stage);
    await compared(endpoint, before + 1);
    return "";
  }
  if (subject === "reasons") {
    const given = migration.stages.audit().filter((move) => move.despite !== undefined);
    return `(${given.map(({ endpoint }) => endpoint).join(", ")})`;
  }
  const path = ["all", "reads"].includes(subject) ? "/stages" : `/stages/${subject}`;
  // Moves within one millisecond have no order in the audit log.
  const [latest] = migration.stages.audit();
  await until(() => latest === undefined || Date.now() > Date.parse(latest.at));
  const { status, body } = await operate("POST", path, {
    ...who,
    stage,
    ...(share && { share: Number(share) }),
    ...(subject === "reads" && { endpoints: "reads" }),
    ...(line.endsWith("!") && { despite }),
  });
  return answerText(status, body as Body);
};

/** The endpoints that are not in legacy. */
const movedEndpoints = (view: StagesView): string[] =>
  Object.entries(view)
    .flatMap(([name, { stage, share }]) => (stage === "legacy" ? [] : [`${name} ${stage} ${share}`]))
    .toSorted();

const untold = "nothing has been compared (put it in shadow first)";
const anyway = 'To move anyway, give the reason as "despite".';
const differ = "differ without a reason (fix modern, or allow the differences in the ledger)";

describe("steps towards modern", () => {
  test.each<[title: string, stages: Parameters<typeof staged>[0], faults: Fault[], lines: [string, string][]]>([
    [
      "until requests were compared and agree",
      {},
      [],
      [
        ["getDataset canary 5", `409 getDataset: ${untold}. ${anyway}`],
        ["getDataset shadow", "200"],
        ["getDataset modern", `409 getDataset: nothing has been compared yet. ${anyway}`],
        ["compare /datasets/61", ""],
        ["getDataset modern", "200"],
      ],
    ],
    [
      "while answers are unexplained, also those from before a move; a step back needs none",
      { getDataset: { stage: "shadow" } },
      [wrongType],
      [
        ["compare /datasets/1", ""],
        ["compare /datasets/2", ""],
        ["getDataset canary 5", `409 getDataset: 2 of 2 compared requests ${differ}. ${anyway}`],
        ["getDataset canary 5 !", "200"],
        ["getDataset canary 10", `409 getDataset: 2 of 2 compared requests ${differ}. ${anyway}`],
        ["getDataset legacy !", "200"],
        ["getDataset shadow", "200"],
        ["reasons", "(getDataset)"],
      ],
    ],
    [
      "for a write, since writes are never compared",
      {},
      [],
      [
        ["tagDataset shadow", "200"],
        ["tagDataset modern", `409 tagDataset: writes are never compared. ${anyway}`],
        ["tagDataset modern !", "200"],
      ],
    ],
    [
      "if all reads move: those without evidence stay, and are named with the objection",
      { getDataset: { stage: "shadow" }, getSetup: { stage: "shadow" } },
      [wrongType],
      [
        ["compare /datasets/61", ""],
        ["compare /setup/1", ""],
        ["reads canary 5", `200 moved: getSetup; stayed: ; held: getDataset (1 of 1 compared request differs`],
        ["reads canary 5", `409 getDataset: 1 of 1 compared request differs`],
        ["reads canary 5 !", "200 moved: getDataset, listDatasets, "],
      ],
    ],
    [
      "if many go back to their stages: without it none of them moves",
      { getDataset: { stage: "canary", share: 50 }, getSetup: { stage: "canary", share: 25 } },
      // No rule makes a text of a number, so that legacy answers.
      [{ ...wrongType, path: "/name" }],
      [
        ["compare /datasets/61", ""],
        ["compare /setup/1", ""],
        ["all legacy", "200 moved: getDataset, getSetup"],
        ["all former", `409 getDataset: 1 of 1 compared request differs`],
        ["all former !", "200 moved: getDataset, getSetup"],
        ["reasons", "(getDataset)"],
      ],
    ],
  ])("a step towards modern needs a reason %s", async (_, stages, faults, lines) => {
    const opened = await staged(stages, { faults });
    for (const [line, expected] of lines)
      expect([line, await play(opened, line)]).toEqual([line, expect.stringContaining(expected)]);
  });

  test("a refusal has the figures, and each reason stands once behind its endpoints", async () => {
    const opened = await staged({});
    const { body } = await opened.operate("POST", "/stages", { ...who, stage: "canary", endpoints: "reads" });
    expect(body).toMatchObject({
      detail: expect.stringMatching(/^getDataset, listDatasets, [^:]*: nothing has been compared [^:;]*$/) as string,
      evidence: { getDataset: { to: { stage: "canary", share: 100 }, compared: 0, unexplained: 0 } },
    });
    expect(opened.migration.viewOf("getDataset").against).toBe(untold);
  });

  test("a step by the configuration is not held up, but logged as a warning", async () => {
    const { migration, observer } = await staged({
      getDataset: { stage: "canary", share: 5 },
      getStudy: { stage: "shadow" },
    });
    expect(observer.counts()["stages_unproven"]).toBe(1);
    await migration.configure({ getStudy: { stage: "modern", share: 100 } }, []);
    expect(movedEndpoints(migration.view())).toEqual(["getStudy modern 100"]);
    expect(observer.counts()["stages_unproven"]).toBe(2);
  });

  test("a new ledger makes a difference expected: it disappears, and holds up no move", async () => {
    const opened = await staged({ getDataset: { stage: "shadow" } }, { faults: [wrongType] });
    const { migration, operate } = opened;
    await play(opened, "compare /datasets/61");
    await migration.configure({ getDataset: { stage: "shadow", share: 100 } }, [known]);
    expect((await operate("GET", "/differences")).body).toEqual([]);
    await play(opened, "compare /datasets/1");
    expect(migration.comparisons.differences.view("expected")).toMatchObject([
      { path: "/version", form: "type", requests: 1 },
    ]);
    expect((await operate("GET", "/expected")).body).toEqual([{ ...known, fired: true }]);
    expect(await play(opened, "getDataset canary 5")).toBe("200");
  });
});

describe("moves of many endpoints", () => {
  test("all reads move at once; reads in a later stage stay, and writes do not move", async () => {
    const opened = await staged({ getDataset: { stage: "canary", share: 5 }, getSetup: { stage: "shadow" } });
    expect(await play(opened, "reads shadow")).toMatch(
      /^200 moved: listDatasets, .*; stayed: getDataset, getSetup; held:$/,
    );
    const { getTask, ...stages } = opened.migration.view();
    expect(getTask).toMatchObject({ stage: "shadow", share: 100, by: "Ada" });
    expect(stages).toMatchObject({ getDataset: { stage: "canary", share: 5 }, tagDataset: { stage: "legacy" } });
  });

  test("a move of many is one entry of the audit log, and so is its undo", async () => {
    const opened = await staged({});
    await play(opened, "reads shadow 10");
    // An operator has decided about this one since.
    await play(opened, "getDataset canary 5 !");
    await play(opened, "all former");
    const audit = (await opened.operate("GET", "/audit")).body as { moves: { endpoint: string }[] }[];
    const time = expect.any(String) as string;
    expect(audit).toMatchObject([
      { at: time, all: time, ...who, undo: true },
      { ...who, at: time, endpoint: "getDataset", despite, from: { share: 10 }, to: { stage: "canary", share: 5 } },
      { at: time, all: time, ...who },
    ]);
    const [undo, , move] = audit.map(({ moves }) => moves?.map(({ endpoint }) => endpoint).toSorted());
    expect(undo).toEqual(move?.filter((endpoint) => endpoint !== "getDataset"));
    expect(audit[2]?.moves[0]).toEqual({
      endpoint: expect.any(String) as string,
      from: { stage: "legacy", share: 100 },
      to: { stage: "shadow", share: 10 },
    });
  });

  test("an undo takes back the last move of many, not the move of many before it", async () => {
    const opened = await staged({ getSetup: { stage: "shadow" } });
    await play(opened, "compare /setup/1");
    await play(opened, "reads shadow 10");
    expect(await play(opened, "reads canary 5")).toContain("200 moved: getSetup;");
    expect(await play(opened, "all former")).toBe("200 moved: getSetup");
    expect(await play(opened, "all former")).toBe("200 moved:");
    const { getSetup, getDataset } = opened.migration.view();
    expect([getSetup, getDataset].map((view) => `${view?.stage} ${view?.share}`)).toEqual(["shadow 10", "shadow 10"]);
  });

  test("an undo leaves out endpoints that have moved since", async () => {
    const opened = await staged({
      getDataset: { stage: "canary", share: 50 },
      getSetup: { stage: "shadow" },
      getStudy: { stage: "shadow", share: 10 },
      findFlow: { stage: "modern" },
    });
    const lines: [string, string][] = [
      ["reads canary 60 !", "200 moved: getDataset, "],
      ["all legacy", "200 moved: getDataset, "],
      // Operators have decided about these since.
      ["findFlow shadow", "200"],
      ["getStudy shadow 10", "200"],
      // A second time, as after a move that could not be stored, it takes nothing from what can be undone.
      ["all legacy", "200 moved: getStudy, findFlow"],
      ["findFlow shadow", "200"],
      ["all former !", "200 moved: getDataset, "],
    ];
    for (const [line, expected] of lines) expect(await play(opened, line)).toContain(expected);
    const { getDataset, getSetup, getStudy, findFlow } = opened.migration.view();
    expect([getDataset, getSetup].map((view) => view?.share)).toEqual([60, 60]);
    expect([getStudy, findFlow]).toMatchObject([
      { stage: "shadow", share: 10, former: undefined },
      { stage: "shadow", share: 100, former: undefined },
    ]);
  });

  test("a move is refused if other gateways move the endpoint at the same time", async () => {
    const store = await openStageStore(memoryStores());
    let moves = 0;
    const update: typeof store.update = async (...about) => ++moves === 3 && store.update(...about);
    const opened = await staged({ getStudy: { stage: "modern" } }, { parts: { store: { ...store, update } } });
    expect(await play(opened, "getStudy shadow")).toContain(
      "409 Another move came first: look at GET /stages/getStudy",
    );
    // The second attempt of a move of many is made.
    expect(await play(opened, "all legacy")).toBe("200 moved: getStudy");
  });

  test("endpoints whose move could not be stored are named", async () => {
    const store = await openStageStore(memoryStores());
    const update: typeof store.update = (endpoint, make) =>
      endpoint === "getStudy" ? Promise.reject(new Error("the disk is full")) : store.update(endpoint, make);
    const stages = { getDataset: { stage: "modern" }, getStudy: { stage: "modern" } } as const;
    const { operate } = await staged(stages, { parts: { store: { ...store, update } } });
    expect(await operate("POST", "/stages", { stage: "legacy", ...who })).toEqual({
      status: 503,
      body: {
        detail:
          "Moved: getDataset. Not moved: getStudy. If it is stored late, it may show for a moment and is taken back. Try again.",
        moved: ["getDataset"],
        failed: [{ endpoint: "getStudy", why: "the disk is full" }],
      },
    });
  });
});

const needed = "a text of 1 to 500 characters is needed; allowed is ";

describe("refused requests to move", () => {
  test.each<[path: string, body: unknown, status: number, detail: string]>([
    ["/getNothing", { ...who, stage: "shadow" }, 404, "There is no such endpoint; allowed are getDataset, "],
    ["/getDataset", "canary", 422, "allowed is "],
    ["/getDataset", { ...who, stage: "beta" }, 422, "stage: "],
    ["/getDataset", { ...who, stage: "canary", share: 101 }, 422, "share: "],
    ["/getDataset", { ...who, stage: "canary", share: 2.5 }, 422, "share: "],
    ["/getDataset", { ...who, stage: "canary", gate: {} }, 422, "gates are set in STAGES"],
    ["/getDataset", { ...who, stage: "canary", despite: " " }, 422, `despite: ${needed}`],
    ["/getDataset", { stage: "shadow", why: "a try" }, 422, `by: ${needed}`],
    ["/getDataset", { stage: "shadow", by: "Ada", why: " " }, 422, `why: ${needed}`],
    ["", { stage: "legacy", by: "", why: "a try" }, 422, `by: ${needed}`],
    [
      "",
      { ...who, stage: "shadow" },
      422,
      "stage: legacy, former and lost move all endpoints, the other stages those ",
    ],
    ["", { ...who, stage: "legacy", endpoints: "reads" }, 422, "stage: legacy, former and lost move all endpoints"],
    ["", { ...who, stage: "shadow", endpoints: "writes" }, 422, "endpoints: "],
    ["", { ...who, stage: "canary", share: 101, endpoints: "reads" }, 422, "share: "],
  ])("a request to move is refused, with what is allowed: POST /stages%s %j", async (path, json, status, detail) => {
    const { operate, migration } = await staged({});
    const refused = await operate("POST", `/stages${path}`, json);
    expect(refused).toEqual({ status, body: { detail: expect.stringContaining(detail) as string } });
    expect(migration.stages.audit()).toEqual([]);
  });

  test("without MODERN_URL there is no stage but legacy", async () => {
    const opened = await staged({}, { environment: { MODERN_URL: "" } });
    expect(await opened.startLine()).toBe("every endpoint stays with legacy: MODERN_URL is not set");
    expect((await opened.ask("/datasets/61")).decision).toBe("stage=legacy; backend=legacy; reason=stage");
    for (const line of ["getDataset shadow", "reads shadow"])
      expect(await play(opened, line)).toBe("422 There is no modern backend: MODERN_URL is not set.");
  });
});

test("the configuration pauses and changes a gate, and its endpoint does not move", async () => {
  const gate = gateSchema.parse({ parity: 0.5, requests: 1, minutes: 0 });
  const gates = (change: object) => ({
    getDataset: { stage: "shadow" as const, share: 100, gate: { ...gate, ...change } },
  });
  const opened = await staged(gates({ paused: true }));
  const { migration } = opened;
  const shown = () => migration.viewOf("getDataset");
  await play(opened, "getDataset canary 5 !");
  await play(opened, "compare /datasets/61");
  await until(() => shown().gateSays === "paused: it moves nothing");
  await migration.configure(gates({ requests: 4000 }), []);
  await until(() => shown().gateSays === "held: 1 of 4000 distinct requests compared");
  expect(shown()).toMatchObject({ stage: "canary", share: 5, by: "Ada", gate: { requests: 4000 } });
  await migration.configure({ getDataset: { stage: "shadow", share: 100 } }, []);
  expect(shown()).toMatchObject({ stage: "canary", gate: undefined });
  expect(shown().gateSays).toContain("it goes back at 3 requests that differ");
  expect(migration.stages.audit()).toHaveLength(1);
});
