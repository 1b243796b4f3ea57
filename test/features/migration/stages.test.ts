import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DifferenceView } from "../../../features/migration/differences.ts";
import { operatorsOf, textOf } from "../console/page/operators.ts";
import { exchange } from "../../gateway/answer/support.ts";
import { get } from "../../gateway/proxy/support.ts";
import type { Fault } from "../../standIn/faults.ts";
import { despite, staged, wrongType } from "./support.ts";
import { settled, until } from "../../support/waiting.ts";

const writer = { "X-API-Key": "00000000000000000000000000000000" };
/** A key, as the sample legacy knows it. */
const owner = "DA1A0000000000000000000000000000";
const formatDifferences = (differences: DifferenceView[]) =>
  differences.map(({ path, form, requests }) => `${path} ${form} ${requests}`);

describe("legacy", () => {
  test("legacy is the default stage, and modern receives no requests", async () => {
    const { ask, modern, operate } = await staged({});
    for (let i = 0; i < 3; i++)
      expect((await ask("/datasets/61")).decision).toBe("stage=legacy; backend=legacy; reason=stage");
    expect((await ask("/datasets/abc")).decision).toBe("stage=legacy; backend=gateway; reason=input");
    expect((await ask("/datasets/61?api_key=-")).decision).toBe("stage=legacy; backend=gateway; reason=credential");
    expect((await operate("GET", "/stages")).body).toMatchObject({ getDataset: { stage: "legacy", share: 100 } });
    expect(modern.asked()).toEqual({});
  });
});

/** Counts the lists of this length that a server is asked for. */
const listsAskedOf = (url: string, limit: number): (() => number) => {
  let count = 0;
  const note = (message: unknown) => {
    const { origin, path } = (message as { request: { origin: string; path: string } }).request;
    if (origin === url && path.includes(`/limit/${limit}`)) count++;
  };
  subscribe("undici:request:create", note);
  onTestFinished(() => void unsubscribe("undici:request:create", note));
  return () => count;
};

describe("shadow", () => {
  test.each(["shadow", "modern"] as const)("%s compares no list that may lack private rows", async (stage) => {
    const admin = { "X-API-Key": "AD000000000000000000000000000000" };
    const environment = { LEGACY_ADMIN_KEY: admin["X-API-Key"] };
    const { ask, migration, compared, legacy } = await staged({ listDatasets: { stage } }, { environment });
    const lists = listsAskedOf(legacy.url, 5);
    expect((await ask("/data/list/limit/5", admin)).decision.endsWith("; private=incomplete")).toBe(stage === "shadow");
    await ask("/data/list/limit/6");
    await compared("listDatasets", 1);
    await settled();
    expect(migration.viewOf("listDatasets").parity).toMatchObject({ compared: 1, equal: 1 });
    // The gateway asks legacy for the whole list. The stand-in for modern asks for this one, if it is asked.
    expect(lists()).toBe(stage === "shadow" ? 0 : 1);
  });

  test("shadow answers from legacy, and finds exactly the faults planted in modern", async () => {
    const { ask, modern, migration, compared, operate } = await staged(
      {
        getDataset: { stage: "shadow" },
        getSetup: { stage: "shadow" },
        getStudy: { stage: "shadow" },
        findFlow: { stage: "modern" },
      },
      {
        faults: [
          wrongType,
          { endpoint: "getDataset", fault: "missingField", path: "/format" },
          { endpoint: "getDataset", fault: "extraField", path: "/colour" },
          { endpoint: "getDataset", fault: "reorderedList", path: "/tag" },
          { endpoint: "findFlow", fault: "otherStatus" },
          // It is gone when it is checked again.
          { endpoint: "getStudy", fault: "otherValue", path: "/name", again: false },
        ],
      },
    );
    const right = (await ask("/datasets/61")).body as { version: number };
    expect(right.version).toBe(1);
    for (const path of ["/flow/exists/sample.ZeroRule/Sample_1.0/", "/studies/99"]) await ask(path);
    for (const id of [1, 2, 3])
      expect((await ask(`/setup/${id}`)).decision).toBe("stage=shadow; backend=legacy; reason=stage");
    await compared("getDataset", 1);
    await compared("findFlow", 1);
    await compared("getStudy", 1);
    await compared("getSetup", 3);
    expect(formatDifferences(migration.comparisons.differences.view("unexplained")).toSorted()).toEqual([
      "/colour extra 1",
      "/format missing 1",
      "/version type 1",
      "status status 1",
    ]);
    expect(formatDifferences(migration.comparisons.differences.view("explained"))).toEqual(["/tag order 1"]);
    expect(formatDifferences(migration.comparisons.differences.view("drift"))).toEqual(["/name value 1"]);
    expect(migration.viewOf("getSetup").parity).toMatchObject({ compared: 3, equal: 3 });
    expect(migration.viewOf("getDataset").parity).toMatchObject({ compared: 1, unexplained: 1 });
    const differences = (await operate("GET", "/differences")).body as DifferenceView[];
    const samples = Object.fromEntries(differences.map(({ path, samples: [sample] }) => [path, sample]));
    expect(samples).toMatchObject({
      "/version": {
        question: "GET /datasets/61",
        legacy: "1",
        curl: { candidate: `curl -si ${modern.url}/datasets/61` },
      },
      "/format": { legacy: "ARFF" },
      status: { legacy: 200 },
    });
    expect(samples["/colour"]).not.toHaveProperty("legacy");
  });

  test("the causes behind most requests stand first; wrong statuses stand apart", async () => {
    const { ask, compared, operate } = await staged(
      { getDataset: { stage: "shadow" }, getSetup: { stage: "shadow" }, getStudy: { stage: "shadow" } },
      {
        faults: [
          { endpoint: "getDataset", fault: "otherStatus" },
          { endpoint: "getSetup", fault: "extraField", path: "/colour" },
          { endpoint: "getStudy", fault: "extraField", path: "/colour" },
        ],
      },
    );
    for (const id of [61, 1_000_000, 1_000_001, 33]) await ask(`/datasets/${id}`);
    for (const path of ["/setup/1", "/setup/2", "/studies/99"]) await ask(path);
    await compared("getDataset", 4);
    await compared("getSetup", 2);
    await compared("getStudy", 1);
    const { body } = await operate("GET", "/differences");
    expect((body as DifferenceView[]).map(({ path, cause, requests }) => [path, cause, requests])).toEqual([
      ["/colour", "extra at /colour", 2],
      ["/colour", "extra at /colour", 1],
      ["status", "error 404", 2],
      ["status", "status 404 in place of 200", 2],
    ]);
  });

  test("a key that was used as a tag is in no request and no command", async () => {
    const { ask, migration, compared } = await staged(
      { listDatasets: { stage: "shadow" } },
      { faults: [{ endpoint: "listDatasets", fault: "otherStatus" }] },
    );
    const headers = { "X-API-Key": owner, "Content-Type": "application/json" };
    await ask(`/data/list/tag/${owner}`, { "X-API-Key": owner });
    await ask("/datasets/list", headers, { method: "POST", body: JSON.stringify({ tag: owner.toLowerCase() }) });
    await compared("listDatasets", 2);
    const samples = migration.comparisons.differences.view("unexplained").flatMap((difference) => difference.samples);
    expect(samples.length).toBe(2);
    expect(JSON.stringify(samples).toLowerCase()).not.toContain(owner.toLowerCase());
    for (const { curl } of samples) {
      expect(curl.candidate).toContain('"X-API-Key: $KEY"');
      expect(curl.legacy).toContain('"api_key=$KEY"');
    }
  });

  test("cached answers are compared too; a share of 0 compares no answer", async () => {
    const { ask, compared, modern, move } = await staged({ getDataset: { stage: "shadow" } });
    for (let i = 0; i < 3; i++) await ask("/datasets/61");
    await compared("getDataset", 3);
    await move("getDataset", { stage: "shadow", share: 0 });
    const before = modern.asked()["getDataset"];
    for (let i = 0; i < 20; i++) await ask("/datasets/61");
    await settled();
    expect(modern.asked()["getDataset"]).toBe(before);
  });

  test("a modern that is down, late or answers without JSON costs callers nothing", async () => {
    const { ask, modern, migration } = await staged(
      { getDataset: { stage: "shadow" } },
      { faults: [{ endpoint: "*", fault: "down" }] },
    );
    for (const fault of ["down", "halfBody", "html", "redirect", "dripping"] as const) {
      modern.use([{ endpoint: "*", fault }]);
      for (const id of [61, 62, 64]) expect((await ask(`/datasets/${id}`)).status).toBeLessThan(500);
    }
    await until(() => migration.viewOf("getDataset").errorRate > 0);
  });
});

describe("canary", () => {
  test("one caller sees one side, and a larger share keeps its callers", async () => {
    const { ask, move } = await staged({ getDataset: { stage: "canary", share: 30 } });
    const callers = Array.from({ length: 60 }, (_, i) => ({ "User-Agent": `client ${i}` }));
    /** The decisions for these callers: each names its bucket. */
    const decisionsFor = (given: Record<string, string>[]) =>
      Promise.all(given.map(async (headers) => (await ask("/datasets/61", headers)).decision));
    const isByModern = (decision: string) => decision.includes("backend=modern");
    const first = await decisionsFor(callers);
    expect(await decisionsFor(callers)).toEqual(first);
    await move("getDataset", { stage: "canary", share: 60, despite });
    const second = await decisionsFor(callers);
    expect(first.every((decision, i) => !isByModern(decision) || isByModern(second[i] ?? ""))).toBe(true);
    const [few, more] = [first, second].map((decisions) => decisions.filter(isByModern).length) as [number, number];
    expect([few > 0, more > few, more < 60]).toEqual([true, true, true]);
    // A key stands for its owner, wherever it is used from.
    expect(new Set(await decisionsFor(callers.map((caller) => ({ ...caller, ...writer })))).size).toBe(1);
    const known: Record<string, string>[] = [
      { "X-API-Key": owner },
      { "X-API-Key": owner.toLowerCase() },
      { "User-Agent": "Client/1.0" },
    ];
    const buckets = (await decisionsFor(known)).map((decision) => /bucket=(\d+)/.exec(decision)?.[1]);
    // The same in each gateway, after each start.
    expect(buckets).toEqual(["55", "55", "20"]);
  });

  test("both sides of a canary are compared; shared caches may not store its answers", async () => {
    const { ask, compared, gateway, modern } = await staged({ getSetup: { stage: "canary", share: 50 } });
    for (let i = 0; i < 10; i++) await ask("/setup/1", { "User-Agent": `client ${i}` });
    await compared("getSetup", 10);
    expect(modern.asked()["getSetup"]).toBeGreaterThanOrEqual(1);
    const headers = async (path: string) => (await gateway.app.request(`/v1${path}`)).headers.get("cache-control");
    expect([await headers("/setup/1"), await headers("/datasets/61")]).toMatchObject([
      expect.stringMatching(/^private/),
      expect.stringMatching(/^public/),
    ]);
  });

  test("a request names its side only where that is allowed", async () => {
    const open = await staged(
      { getDataset: { stage: "canary", share: 0 } },
      {
        environment: { FORCE_BACKEND: "true" },
        faults: [{ endpoint: "getDataset", fault: "otherValue", path: "/name" }],
      },
    );
    const askSide = (side: string) => open.ask("/datasets/61", { "Gateway-Backend": side });
    const byModern = await askSide("modern");
    expect(byModern.decision).toBe("stage=canary; backend=modern; reason=forced");
    const byShare = await askSide("other");
    expect(byShare.decision).toContain("backend=legacy; bucket=");
    // The cache keeps the answers of both sides apart.
    expect(byShare.body).not.toEqual(byModern.body);
    const closed = await staged({ getDataset: { stage: "canary", share: 0 } });
    expect((await closed.ask("/datasets/61", { "Gateway-Backend": "modern" })).decision).toContain("backend=legacy");
  });
});

describe("modern", () => {
  test("modern's answers are cached apart from legacy's", async () => {
    const { ask, move, modern } = await staged(
      { getDataset: { stage: "legacy" } },
      { faults: [{ endpoint: "getDataset", fault: "otherValue", path: "/name" }] },
    );
    const byLegacy = (await ask("/datasets/61")).body as { name: string };
    await move("getDataset", { stage: "modern", share: 0, despite });
    const first = await ask("/datasets/61");
    expect(first.decision).toBe("stage=modern; backend=modern; reason=stage");
    expect((first.body as { name: string }).name).not.toBe(byLegacy.name);
    const second = await ask("/datasets/61");
    expect([second.body, second.cache]).toEqual([first.body, expect.stringContaining("hit")]);
    await move("getDataset", { stage: "legacy", why: "a name is wrong" });
    expect((await ask("/datasets/61")).body).toEqual(byLegacy);
    // Its findings from before the fix do not come back with it.
    modern.use([]);
    await move("getDataset", { stage: "modern", share: 0, why: "it is fixed", despite });
    expect((await ask("/datasets/61")).body).toEqual(byLegacy);
  });

  test.each<Omit<Fault, "endpoint">>([
    { fault: "down" },
    { fault: "html" },
    { fault: "halfBody" },
    { fault: "redirect" },
    { fault: "wrongType", path: "/name" },
    { fault: "late", ms: 5000 },
  ])("legacy answers where modern is wrong: %j", async (fault) => {
    const { ask } = await staged(
      { getDataset: { stage: "modern" } },
      { faults: [{ endpoint: "getDataset", ...fault }], environment: { MODERN_TIMEOUT_MS: "1000" } },
    );
    expect(await ask("/datasets/61")).toMatchObject({
      status: 200,
      body: { id: 61 },
      decision: "stage=modern; backend=legacy; reason=fallback",
    });
  });

  test("a comparison invalidates a wrong answer that was cached", async () => {
    const { ask, modern, migration } = await staged(
      { getDataset: { stage: "modern", share: 0 } },
      { faults: [{ endpoint: "getDataset", fault: "otherValue", path: "/name" }] },
    );
    const wrong = (await ask("/datasets/61")).body;
    modern.use([]);
    await migration.configure({ getDataset: { stage: "modern", share: 0 } }, []);
    expect((await ask("/datasets/61")).body).toEqual(wrong);
    await migration.stages.move("getDataset", { stage: "canary", share: 100 }, "me", "to compare them all");
    await until(async () => JSON.stringify((await ask("/datasets/61")).body) !== JSON.stringify(wrong));
  });

  test("a name that would lead to another path is sent to neither side", async () => {
    const { port, modern } = await staged({ findFlow: { stage: "modern", share: 0 } });
    const { status, headers } = await exchange(port, get("/v1/flows/exists/%2e%2e/7"));
    // Legacy is asked for such a name by its form, which needs a key.
    expect([status, headers.get("gateway-decision")]).toEqual([401, "stage=modern; backend=legacy; reason=fallback"]);
    expect(modern.asked()).toEqual({});
  });

  test("modern's answers to requests with a key are not cached", async () => {
    const { ask } = await staged({ getDataset: { stage: "modern" } });
    for (let i = 0; i < 2; i++) expect((await ask("/datasets/61", { "X-API-Key": owner })).cache).not.toContain("hit");
  });
});

describe("writes", () => {
  const tag = (tags: string) => ({
    method: "POST",
    headers: { ...writer, "Content-Type": "application/json" },
    body: JSON.stringify({ data_id: 61, tag: tags }),
  });

  test("a write goes to one side once, and invalidates the entries of both sides", async () => {
    const { ask, modern, move } = await staged({ tagDataset: { stage: "shadow" }, getDataset: { stage: "legacy" } });
    await ask("/datasets/61");
    expect((await ask("/datasets/tag", {}, tag("by-legacy"))).decision).toBe(
      "stage=shadow; backend=legacy; reason=stage",
    );
    expect(modern.asked()).toEqual({});
    await move("tagDataset", { stage: "modern", despite });
    const { status, decision } = await ask("/datasets/tag", {}, tag("by-modern"));
    expect([status, decision]).toEqual([200, "stage=modern; backend=modern; reason=stage"]);
    expect(modern.asked()).toEqual({ tagDataset: 1 });
    expect(((await ask("/datasets/61")).body as { tag: string[] }).tag).toEqual(
      expect.arrayContaining(["by-legacy", "by-modern"]),
    );
  });

  test("a write that modern fails is not sent to legacy", async () => {
    const { ask } = await staged(
      { tagDataset: { stage: "modern" } },
      { faults: [{ endpoint: "tagDataset", fault: "halfBody" }] },
    );
    const { status, decision } = await ask("/datasets/tag", {}, tag("lost"));
    expect([status, decision]).toEqual([502, "stage=modern; backend=modern; reason=stage"]);
  });
});

describe("a canary that modern answers wrongly", () => {
  const wrongFor = async (gate?: "none") => {
    const opened = await staged(
      { getDataset: { stage: "canary", share: 100, ...(gate && { gate }) } },
      {
        environment: { MIRROR_RATE: "1000", CACHE_BYTES: "0" },
        faults: [{ endpoint: "getDataset", fault: "otherValue", path: "/name" }],
      },
    );
    // Two requests, each sent twice, are two distinct requests.
    for (const [count, id] of [61, 61, 2, 2].entries()) {
      await opened.ask(`/datasets/${id}`);
      await opened.compared("getDataset", count + 1);
    }
    expect(opened.migration.stages.of("getDataset").stage).toBe("canary");
    await opened.ask("/datasets/3");
    await opened.compared("getDataset", 5);
    return { ...opened, shown: () => opened.migration.viewOf("getDataset") };
  };

  test("without a gate it goes back to shadow at three distinct requests that differ", async () => {
    const { migration, gateway, shown } = await wrongFor();
    await until(() => shown().stage === "shadow");
    const { markup } = await operatorsOf({ gateway });
    expect(textOf(await markup())).toMatch(
      /The gate took getDataset back to shadow at \d\d:\d\d UTC \(3 distinct requests differ without a reason\): legacy answers all callers Nothing has to be pressed/,
    );
    expect(migration.stages.audit()).toMatchObject([
      { by: "gate", why: "3 distinct requests differ without a reason", from: { stage: "canary" } },
    ]);
    expect(shown()).toMatchObject({ gate: undefined, wrongSince: undefined });
  });

  test("with the gate off it stays, and says since when callers may get wrong answers", async () => {
    const { move, shown } = await wrongFor("none");
    const { stage, gateSays, since, wrongSince = "" } = shown();
    expect([stage, gateSays]).toEqual(["canary", undefined]);
    expect([wrongSince >= since, Date.parse(wrongSince) <= Date.now()]).toEqual([true, true]);
    // More callers get wrong answers from this move on.
    await move("getDataset", { stage: "modern", share: 100, despite });
    expect(shown().wrongSince).toBe(shown().since);
    await move("getDataset", { stage: "canary", share: 0 });
    expect(shown().wrongSince).toBeUndefined();
  });
});

test("the gate promotes an endpoint by evidence, and demotes it by a regression", async () => {
  const gate = { parity: 0.5, requests: 5, minutes: 0, errorRate: 0.5, p95: 5000, hold: 60 };
  const { ask, migration, modern } = await staged(
    { getDataset: { stage: "shadow", gate } },
    { environment: { MIRROR_RATE: "1000", CACHE_BYTES: "0" } },
  );
  const shown = () => migration.viewOf("getDataset");
  /** Asks until this is so. */
  const askUntil = (isSo: () => boolean) =>
    until(async () => {
      for (let id = 1; id <= 15; id++) await ask(`/datasets/${id}`, { "User-Agent": `client ${id}` });
      return isSo();
    });
  await askUntil(() => shown().stage !== "shadow");
  const { by, from, to } = migration.stages.audit().at(-1) ?? {};
  expect([by, from, to]).toMatchObject(["gate", { stage: "shadow" }, { stage: "canary", share: 5 }]);
  modern.use([{ endpoint: "getDataset", fault: "otherValue", path: "/name" }]);
  await askUntil(() => shown().stage === "shadow");
  expect(shown()).toMatchObject({ by: "gate", why: expect.stringContaining("parity at most") as string });
  expect(migration.comparisons.differences.view("unexplained").map(({ path }) => path)).toEqual(["/name"]);
  modern.use([]);
  await askUntil(() => shown().gateSays?.includes("after a demotion") === true);
  expect(shown().stage).toBe("shadow");
});
