import { describe, expect, test } from "vitest";
import type { DifferenceView } from "../../../features/migration/differences.ts";
import type { StageView } from "../../../features/migration/migration.ts";
import type { MigrationSettings } from "../../../features/migration/settings.ts";
import { gateSchema } from "../../../features/migration/stage.ts";
import { sampleCatalogue } from "../../../tools/sampleLegacy/catalogue.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { errorsIn } from "../../operation/settings/support.ts";
import { pageOfMetrics } from "../../support/metrics.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";
import { operatorsOf } from "../console/page/operators.ts";
import { despite, type Staged, staged } from "./support.ts";

const MODERN_URL = "http://127.0.0.1:9";

test.each<[errors: RegExp[], given: Record<string, string>]>([
  [[], { MOVE_LEGACY: "getDataset,getFlow", CACHE_LEGACY: "getFlow,getDataset", MODERN_URL }],
  [[], { MOVE_LEGACY: "all", CACHE_LEGACY: "getDataset", MODERN_URL }],
  [[/"no" given; allowed are, of .*, getFlow, .*, all$/], { MOVE_LEGACY: "no", CACHE_LEGACY: "all", MODERN_URL }],
  [[/"tagDataset" given; allowed/], { MOVE_LEGACY: "tagDataset", CACHE_LEGACY: "all", MODERN_URL }],
  [[/^MOVE_LEGACY: "getTask" given; .* getRun, all$/], { MOVE_LEGACY: "getTask", CACHE_LEGACY: "getRun", MODERN_URL }],
  [[/"all" given; allowed is none without .* CACHE_LEGACY$/], { MOVE_LEGACY: "all", MODERN_URL }],
  [[/"all" given; allowed is none without MODERN_URL/], { MOVE_LEGACY: "all", CACHE_LEGACY: "all" }],
])("the errors of MOVE_LEGACY are %j for %j", (errors, given) => {
  expect(errorsIn(given)).toEqual(errors.map((error): unknown => expect.stringMatching(error)));
});

/** Legacy's dataset 3 has a field that no rule knows, where this is on. */
const odd = { isOn: true };

const inFront = (url: string) =>
  httpUpstream((request, response) => {
    const alter = (body: string) => (odd.isOn ? body.replace('{"id":"3"', '{"odd":"1","id":"3"') : body);
    void fetch(url + request.url).then(async (answer) => response.end(alter(await answer.text())));
  });

const opened = async (
  stages: Parameters<typeof staged>[0],
  MOVE_LEGACY: string,
  { environment = {}, parts = {} }: Parameters<typeof staged>[1] = {},
) => {
  odd.isOn = true;
  const given = { CACHE_LEGACY: "all", MOVE_LEGACY, ...environment };
  const all = await staged(stages, { environment: given, parts, inFront });
  /** Reads a path of legacy's interface, past the cache. */
  const readOld = async (path: string, init: RequestInit = {}) => {
    const headers = { "Cache-Control": "no-cache" };
    await (await fetch(`http://127.0.0.1:${all.port}/api/v1/${path}`, { headers, ...init })).arrayBuffer();
  };
  const { core, features } = all.gateway;
  const reload = (changed: object) =>
    features.migration.reload({ ...(core.settings as MigrationSettings), ...changed });
  return { ...all, readOld, reload };
};

const oldClientsOf = async ({ operate }: Pick<Staged, "operate">, endpoint = "getDataset") =>
  ((await operate("GET", `/stages/${endpoint}`)).body as StageView).oldClients;

const none = "no answer to old clients has been compared yet";
const lossy = "1 of 1 compared answer to old clients would lose what no named loss covers";

describe("the evidence on old clients", () => {
  test("each request counts once, by its latest result, with samples of what is lost", async () => {
    // Answers are read in a thread.
    const parts = { reading: { large: { json: 0, xml: 0 } } };
    const gateway = await opened({}, "getDataset,getFlow", { parts });
    const { operate, readOld } = gateway;
    const { key = "" } = sampleCatalogue.users[0] ?? {};
    for (const path of ["data/61", "json/data/61", `json/data/3?api_key=${key}`, "json/flow/104", "json/task/1"])
      await readOld(path);
    await readOld("data/61", { method: "POST" });
    expect(await oldClientsOf(gateway)).toMatchObject({ equal: 2, expected: 0, unexplained: 1, isMoved: false });
    expect(gateway.observer.counts()).toMatchObject({ "old_clients_differ getDataset": 1 });
    expect(await oldClientsOf(gateway, "getFlow")).toMatchObject({ equal: 0, expected: 1, unexplained: 0 });
    expect(await oldClientsOf(gateway, "getTask")).toBeUndefined();

    const differences = async (kind: string) =>
      (await operate("GET", `/differences?kind=${kind}`)).body as DifferenceView[];
    expect(await differences("unexplained")).toMatchObject([
      {
        endpoint: "getDataset",
        path: "/data_set_description/odd",
        form: "lost",
        cause: "old clients: no named loss covers /data_set_description/odd",
        samples: [{ question: "GET /api/v1/json/data/3" }],
      },
    ]);
    const named = (await differences("expected")).map(({ path, cause }) => `${path}: ${cause}`);
    expect(named).toContain("/flow/licence: old clients: The specification drops this field.");

    odd.isOn = false;
    await readOld("json/data/3");
    expect(await oldClientsOf(gateway)).toMatchObject({ equal: 3, expected: 0, unexplained: 0 });
    const metric = 'catalog_gateway_old_client_comparisons{endpoint="getDataset",result=';
    expect(await pageOfMetrics(gateway.gateway.core.meter)).toContain(
      `${metric}"equal"} 3\n${metric}"expected"} 0\n${metric}"unexplained"} 0\n`,
    );
  });

  test("`all` leaves out what loses fields in nearly every answer; a reload changes it", async () => {
    const { readOld, operate, reload } = await opened({}, "all");
    const names = async () =>
      Object.entries((await operate("GET", "/stages")).body as Record<string, StageView>).flatMap(
        ([name, { oldClients }]) => (oldClients ? [name] : []),
      );
    expect(await names()).toEqual(expect.arrayContaining(["getDataset", "listDatasets", "getTask"]));
    for (const name of ["getFlow", "getRun", "tagDataset"]) expect(await names()).not.toContain(name);
    await reload({ MOVE_LEGACY: ["getRun"] });
    expect(await names()).toEqual(["getRun"]);
    await readOld("json/data/61");
    await reload({ MOVE_LEGACY: ["getDataset"] });
    expect(await oldClientsOf({ operate })).toMatchObject({ compared: 0 });
  });

  test("it outlives a restart", async () => {
    const DATA_DIR = temporaryFolder();
    const first = await opened({}, "getDataset", { environment: { DATA_DIR } });
    for (const path of ["json/data/61", "json/data/3"]) await first.readOld(path);
    await first.close();
    const second = await opened({}, "getDataset", { environment: { DATA_DIR, MODERN_URL: first.modern.url } });
    expect(await oldClientsOf(second)).toMatchObject({ equal: 1, unexplained: 1 });
  });
});

describe("a step towards modern", () => {
  test("it is held until old clients lose nothing unnamed, or a reason is given", async () => {
    const { ask, compared, migration, move, readOld } = await opened({ getDataset: { stage: "shadow" } }, "getDataset");
    const anyway = 'To move anyway, give the reason as "despite".';
    const refusal = async () => (await move("getDataset", { stage: "canary", share: 5 })).body;
    expect(await refusal()).toMatchObject({ detail: expect.stringContaining(`been compared yet; ${none}`) as string });
    await ask("/datasets/61");
    await compared("getDataset", 1);
    expect(await refusal()).toMatchObject({ detail: expect.stringContaining(`getDataset: ${none}`) as string });
    await readOld("json/data/3");
    expect(await refusal()).toMatchObject({ detail: `getDataset: ${lossy}. ${anyway}` });
    expect(migration.movesOldClients("getDataset")).toBe(false);
    expect(await move("getDataset", { stage: "canary", share: 5, despite })).toMatchObject({ status: 200 });
    expect(migration.movesOldClients("getDataset")).toBe(true);
    // The next step needs a reason again; a new way up does not begin with the reason of the last.
    expect(await move("getDataset", { stage: "modern" })).toMatchObject({ status: 409 });
    expect(await move("getDataset", { stage: "shadow" })).toMatchObject({ status: 200 });
    odd.isOn = false;
    await readOld("json/data/3");
    expect(await move("getDataset", { stage: "modern" })).toMatchObject({ status: 200 });
    expect(migration.movesOldClients("getDataset")).toBe(true);
    expect(migration.stages.audit().map(({ oldClients }) => oldClients)).toEqual([true, undefined, true]);
  });

  test("a gate waits for the same evidence", async () => {
    const gate = gateSchema.parse({ requests: 1, minutes: 0, parity: 0 });
    const { ask, migration, readOld } = await opened({ getDataset: { stage: "shadow", gate } }, "getDataset");
    await ask("/datasets/61");
    await until(() => migration.viewOf("getDataset").gateSays?.startsWith(`held: ${none}`) === true);
    await readOld("json/data/61");
    await until(() => migration.stages.of("getDataset").stage === "canary");
    expect(migration.movesOldClients("getDataset")).toBe(true);
  });
});

describe("an endpoint that modern answers already", () => {
  test("its old clients follow as soon as the evidence holds", async () => {
    const gateway = await opened({ getDataset: { stage: "modern" } }, "getDataset");
    const { migration, operate, readOld, reload } = gateway;
    const moves = () => migration.movesOldClients("getDataset");
    expect(moves()).toBe(false);
    await readOld("json/data/3");
    expect(moves()).toBe(false);
    odd.isOn = false;
    await readOld("json/data/3");
    expect(moves()).toBe(true);
    // Operators find and purge modern's entry by the old address, too.
    await readOld("json/data/61");
    const url = "/api/v1/json/data/61";
    const stored = async () => (await operate("GET", `/cache?url=${url}`)).body;
    expect(await stored()).toMatchObject({ answers: [{ endpoint: "getDataset", status: 200 }] });
    expect(await operate("POST", "/purge", { url })).toMatchObject({ status: 200 });
    expect(await stored()).toMatchObject({ answers: [] });
    // They go on where a later answer would lose something.
    gateway.gateway.core.events.emit("oldAnswerRead", { endpoint: "getDataset", path: "/x", lost: ["/x"] });
    expect([moves(), migration.comparisons.oldClients.isProven("getDataset")]).toEqual([true, false]);
    expect((await gateway.startLine()).split("; ").at(-1)).toBe("old clients of 1 endpoint may follow them");
    await reload({ STAGES: { getDataset: { stage: "shadow", share: 100 } } });
    expect(moves()).toBe(false);
  });

  test("they follow for a reason that is given for them, at the same stage", async () => {
    const gateway = await opened({}, "getTask");
    const { migration, move, operate, reload } = gateway;
    const moves = () => migration.movesOldClients("getDataset");
    expect(await move("getDataset", { stage: "canary", share: 5, despite })).toMatchObject({ status: 200 });
    await reload({ MOVE_LEGACY: ["getDataset"] });
    expect(moves()).toBe(false);
    const { markup } = await operatorsOf(gateway);
    expect(await markup()).toMatch(/data-held="no answer[^]*old clients: nothing compared; legacy answers them/);
    await move("getDataset", { stage: "canary", share: 5 });
    expect(moves()).toBe(false);
    expect(await move("getDataset", { stage: "canary", share: 5, despite })).toMatchObject({ status: 200 });
    expect(moves()).toBe(true);
    expect(await markup()).toMatch(/data-held=""[^]*old clients: nothing compared; they follow/);
    expect((await operate("GET", "/audit")).body).toMatchObject([{ despite, oldClients: true }, { despite }]);
    await reload({ MOVE_LEGACY: [] });
    expect(moves()).toBe(false);
  });
});
