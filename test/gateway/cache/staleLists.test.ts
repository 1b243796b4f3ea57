import { describe, expect, test, vi } from "vitest";
import { alice, cachedGateway, clock, coalesced, kept, markOf } from "./support.ts";
import { until } from "../../support/waiting.ts";

const second = 1000;
const [list, dataset] = [kept.listDatasets, kept.getDataset];
const uploaded = () => {
  const body = new FormData();
  body.set("description", "<oml:data_set_description/>");
  body.set("api_key", alice);
  return { method: "POST", body };
};
const form = (fields: Record<string, string>) => new URLSearchParams({ ...fields, api_key: alice });

describe("a list after a write", () => {
  test.each<[string, string, RequestInit]>([
    ["a tag", "/api/v1/json/data/tag", { method: "POST", body: form({ data_id: "61", tag: "a" }) }],
    ["a removed tag", "/api/v1/xml/data/untag", { method: "POST", body: form({ data_id: "61", tag: "a" }) }],
    ["an upload", "/api/v1/json/data", uploaded()],
  ])("%s leaves the list as stale, to be served only while legacy fails", async (_, path, init) => {
    const { legacy, ask } = await cachedGateway();
    await ask(list);
    expect((await ask(path, {}, init)).status).toBe(200);
    legacy.mode = "down";
    const stale = await ask(list);
    expect([stale.status, markOf(stale.body), stale.how]).toEqual([
      200,
      "nobody 1",
      expect.stringContaining("stale-if-error"),
    ]);
    legacy.mode = "healthy";
    await until(async () => markOf((await ask(list)).body) !== "nobody 1");
    expect((await ask(list)).how).toMatch(/^hit/);
  });

  test.each<[string, string, RequestInit]>([
    [
      "another status",
      "/api/v1/json/data/status/update",
      { method: "POST", body: form({ data_id: "61", status: "active" }) },
    ],
    ["a deletion", `/api/v1/json/data/61?api_key=${alice}`, { method: "DELETE" }],
  ])("%s invalidates the list", async (_, path, init) => {
    const { legacy, ask } = await cachedGateway();
    await ask(list);
    await ask(path, {}, init);
    legacy.mode = "down";
    expect((await ask(list)).status).toBeGreaterThanOrEqual(500);
  });

  test("a tag invalidates its entity, and an upload invalidates a cached 404", async () => {
    const { legacy, ask, post, as } = await cachedGateway();
    await ask(dataset);
    await post("/v1/datasets/tag", { data_id: 61, tag: "a" }, as(alice));
    Object.assign(legacy, { gone: true });
    expect((await ask(dataset)).status).toBe(404);
    Object.assign(legacy, { gone: false });
    expect((await ask(dataset)).status).toBe(404);
    await ask("/api/v1/json/data", {}, uploaded());
    expect((await ask(dataset)).status).toBe(200);
  });

  test("a write ends the back-off of the entries that it invalidates", async () => {
    const { pass } = clock();
    const { legacy, ask, post, as } = await cachedGateway();
    await ask(list);
    pass(6 * 24 * 3600 * second);
    legacy.mode = "erroring";
    for (let i = 0; i < 6; i++) {
      expect((await ask(list)).how).toContain("stale-if-error");
      pass(60 * second);
    }
    await ask(list);
    const asked = legacy.asked.length;
    await ask(list);
    expect(legacy.asked.length).toBe(asked);
    legacy.mode = "healthy";
    await post("/v1/datasets/tag", { data_id: 62, tag: "a" }, as(alice));
    legacy.version = 2;
    expect(markOf((await ask(list)).body)).toBe("nobody 2");
  });
});

describe("a fetch that runs", () => {
  test("writes to other entities do not end it for the requests that wait", async () => {
    const { legacy, ask, post, as, core } = await cachedGateway();
    const release = legacy.hold();
    const first = ask(dataset);
    await until(() => legacy.asked.length === 1);
    legacy.gate = undefined;
    const later: ReturnType<typeof ask>[] = [];
    for (let i = 0; i < 29; i++) {
      if (i % 3 === 0) await post("/v1/setup/tag", { setup_id: 3, tag: "a" }, as(alice));
      later.push(ask(dataset));
    }
    await until(async () => (await coalesced(core)) === 29);
    release();
    const answers = await Promise.all([first, ...later]);
    expect(new Set(answers.map(({ body }) => markOf(body)))).toEqual(new Set(["nobody 1"]));
    expect(legacy.asked.filter((path) => path.includes("/data/61"))).toHaveLength(1);
  });

  test("a request with a stale answer waits at most five seconds for it; it runs on", async () => {
    // A day passes at once: it would be long for each timer that runs meanwhile.
    const now = performance.now.bind(performance);
    let later = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { legacy, ask, core } = await cachedGateway({ TOTAL_TIMEOUT_MS: "30000" });
      await ask(dataset);
      later = 24 * 3600 * second;
      const asked = legacy.asked.length;
      const release = legacy.hold();
      legacy.version = 2;
      const waiting = [ask(dataset), ask(dataset)];
      await until(async () => legacy.asked.length > asked && (await coalesced(core)) === 1);
      await vi.advanceTimersByTimeAsync(5 * second);
      for (const { body, how } of await Promise.all(waiting))
        expect([markOf(body), how]).toEqual(["nobody 1", expect.stringContaining("stale-if-error")]);
      // The entry backs off: the next request does not wait at all.
      expect(markOf((await ask(dataset)).body)).toBe("nobody 1");
      release();
      await until(async () => markOf((await ask(dataset)).body) === "nobody 2");
      expect(legacy.asked.length).toBe(asked + 1);
    } finally {
      vi.useRealTimers();
      vi.restoreAllMocks();
    }
  });
});
