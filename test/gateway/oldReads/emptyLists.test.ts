import { describe, expect, test } from "vitest";
import type { Core } from "../../../src/gateway/answer/core.ts";
import { sampleCatalogue } from "../../../tools/sampleLegacy/catalogue.ts";
import { startSample } from "./sample.ts";
import { cachingOver } from "./support.ts";
import { recordingUpstream, xmlError } from "../http/support.ts";
import { until } from "../../support/waiting.ts";
import { clock } from "../cache/support.ts";
import { keys } from "../answer/support.ts";

const second = 1000;
const hour = 3600 * second;

/**
 * A gateway that caches both interfaces, over a sample legacy, and the clock of its cache.
 * `datasets`: the table of legacy's.
 */
const gatewayOver = async () => {
  const { pass } = clock();
  const datasets = structuredClone(sampleCatalogue.datasets);
  const legacy = await startSample({ datasets });
  const { ask, core, observer } = await cachingOver(legacy);
  const load = async (paths: readonly string[]) => {
    const bodies: [path: string, body: string][] = [];
    for (const path of paths) {
      const { status, how, body } = await ask(path);
      expect([path, status, how]).toEqual([path, 200, expect.stringContaining("stored")]);
      bodies.push([path, body]);
    }
    return bodies;
  };
  return {
    ask,
    core,
    pass,
    observer,
    datasets,
    /** Has these answers stored; the bodies by their paths. */
    load,
    /** Has a part of legacy fail, or nothing. */
    fail: (form?: string) =>
      fetch(`${legacy.direct}/outage/${form ?? ""}`, { method: form === undefined ? "DELETE" : "POST" }),
    /** The requests that legacy got since this was called last. */
    asked: () => legacy.seen.splice(0).map(({ url = "" }) => url),
  };
};

/** The number of background fetches that have failed. */
const refreshesFailed = async ({ meter }: Pick<Core, "meter">): Promise<number> => {
  const events = (await meter.read()).find(({ name }) => name === "catalog_gateway_cache_events_total");
  return events?.values.find(({ labels }) => labels["event"] === "refresh_failed")?.value ?? 0;
};

const forms = (list: string) => [`/api/v1/json/${list}`, `/api/v1/xml/${list}`];
const both = (list: string) => [`/v1/${list}`, ...forms(list)];

const flowers = both("data/list/tag/flowers");
const tasks = ["/v1/task/list/task_type_id/8", ...forms("task/list/type/8")];
const runs = both("run/list/task/1");
const evaluations = ["evaluation/list/task/1", "evaluation/setup/list/task/1"].flatMap((list) => [
  `/v1/${list}`,
  `/api/v1/xml/${list}`,
]);

const parts: [form: string, lists: string[]][] = [
  ["table-dataset", [...flowers, ...both("data/list/limit/5"), ...tasks, ...runs, ...evaluations]],
  ["table-run", [...runs, ...evaluations]],
  ["table-data_quality", tasks],
  ["temporary-disk-full", tasks],
];

const ofOldClients = (lists: string[]) => lists.filter((path) => path.startsWith("/api/"));
const callers: [query: string, headers: Record<string, string>][] = [
  [`?api_key=${keys.user}`, {}],
  ["", { Cookie: "ci_session=a" }],
  ["", { Cookie: "ci_session=a", "Sec-Fetch-Site": "same-origin" }],
];

describe("a list that had rows is served while legacy can list nothing", () => {
  test.each(parts)("to callers with a key, with a session and without: %s", async (form, lists) => {
    const { ask, pass, load, fail, observer } = await gatewayOver();
    const bodies = await load(lists);
    pass(2 * hour);
    await fail(form);
    for (let round = 0; round < 3; round++) {
      for (const [path, body] of bodies) {
        const { how, ...answer } = await ask(path);
        expect([path, answer]).toMatchObject([path, { status: 200, body }]);
        expect(how).toContain("stale-if-error");
        for (const [query, headers] of path.startsWith("/api/") ? callers : [])
          expect([path, headers, await ask(path + query, headers)]).toMatchObject([
            path,
            headers,
            { status: 200, body },
          ]);
      }
      pass(2 * second);
    }
    expect(Object.keys(observer.counts()).join()).toMatch(/\bempty_list list/);
  });

  test("also where a refresh in the background finds no rows", async () => {
    const { ask, core, pass, load, fail } = await gatewayOver();
    const bodies = await load(flowers);
    pass(120 * second);
    await fail("table-dataset");
    for (const path of flowers) expect((await ask(path)).how).toContain("stale-while-revalidate");
    await until(async () => (await refreshesFailed(core)) === flowers.length);
    for (const [path, body] of bodies) expect([path, await ask(path)]).toMatchObject([path, { status: 200, body }]);
  });
});

describe("a list that is asked with a key or a cookie", () => {
  test("passes if it is believed to be empty, or if nothing else is stored", async () => {
    const { ask, load, fail, datasets } = await gatewayOver();
    const paths = ofOldClients(flowers);
    await load(paths);
    for (const row of datasets) row.tags = [];
    for (const path of paths)
      for (const [query, headers] of callers)
        expect(await ask(path + query, headers)).toMatchObject({
          status: 412,
          body: expect.stringContaining("No results"),
          how: "passed",
        });
    await fail("table-dataset");
    const other = "/api/v1/json/data/list/data_id/1";
    for (const [query, headers] of callers) expect((await ask(other + query, headers)).how).toBe("passed");
  });

  test.each(["/v1/data/list/data_id/1", "/v1/data/list/limit/5"])(
    "on the new interface is the public one, too: %s",
    async (path) => {
      const { ask, pass, load, fail } = await gatewayOver();
      const [[, body] = []] = await load([path]);
      pass(2 * hour);
      await fail("table-dataset");
      expect(await ask(path, { "X-API-Key": keys.user })).toMatchObject({
        status: 200,
        body,
        how: expect.stringContaining("stale-if-error"),
      });
    },
  );

  test("on the new interface is fresh for 5 s where an unfiltered list has shown it", async () => {
    const { ask, pass, load, fail } = await gatewayOver();
    await load(["/v1/data/list/limit/5"]);
    pass(2 * hour);
    await fail("table-dataset");
    await ask("/v1/data/list/limit/5");
    const { status, how } = await ask("/v1/data/list/data_id/1", { "X-API-Key": keys.user });
    expect([status, how]).toEqual([404, "fwd=uri-miss; stored; ttl=5"]);
  });

  test("on the new interface is fresh for a minute where it is believed to be empty", async () => {
    const { ask, load, datasets } = await gatewayOver();
    await load(["/v1/data/list/tag/flowers"]);
    for (const row of datasets) row.tags = [];
    const { status, how } = await ask("/v1/data/list/tag/flowers", { "X-API-Key": keys.user });
    expect([status, how]).toEqual([404, "fwd=uri-miss; stored; ttl=60"]);
  });
});

test("when legacy can list again, so does the gateway", async () => {
  const { ask, pass, load, fail } = await gatewayOver();
  await load(flowers);
  pass(2 * hour);
  await fail("table-dataset");
  for (const path of flowers) expect((await ask(path)).how).toContain("stale-if-error");
  await fail();
  pass(2 * second);
  for (const path of flowers) expect((await ask(path)).how).toMatch(/^fwd=stale; stored/);
});

test("a list that is empty is believed, where the shortest list has a row", async () => {
  const { ask, pass, load, datasets, asked, observer } = await gatewayOver();
  await load(flowers);
  pass(2 * hour);
  for (const row of datasets) row.tags = [];
  asked();
  for (const path of flowers) {
    expect((await ask(path)).body).toContain("No results");
    expect((await ask(path)).how).toMatch(/^hit; ttl=60/);
  }
  expect(asked()).toHaveLength(flowers.length + 1);
  expect(observer.counts()["empty_list listDatasets"]).toBeUndefined();
});

describe("the shortest list", () => {
  test("is requested once a second, without a key, only for lists that had rows", async () => {
    const { ask, pass, load, fail, asked, observer } = await gatewayOver();
    const lists = [1, 2, 3].flatMap((type) => both(`data/list/data_id/${type}`));
    await load(lists);
    pass(2 * hour);
    await fail("table-dataset");
    asked();
    const looks = () => asked().filter((target) => target === "/api/v1/xml/data/list/limit/1").length;
    await ask("/v1/data/list/data_id/999");
    expect(looks()).toBe(0);
    await Promise.all(lists.map((path) => ask(path)));
    expect(looks()).toBe(1);
    expect(observer.counts()["empty_list listDatasets"]).toBe(lists.length);
    pass(2 * second);
    await Promise.all(lists.map((path) => ask(path)));
    expect(looks()).toBe(1);
  });

  test("of evaluations is a list of runs", async () => {
    const { ask, pass, load, fail, asked } = await gatewayOver();
    await load(evaluations);
    pass(2 * hour);
    await fail("table-run");
    asked();
    for (const path of evaluations) await ask(path);
    const looks = asked().filter((target) => target.endsWith("limit/1"));
    expect(looks).toEqual(["/api/v1/xml/run/list/limit/1", "/api/v1/xml/run/list/limit/1"]);
  });

  test("that fails has no row", async () => {
    const { ask, pass, load, fail } = await gatewayOver();
    const bodies = await load(flowers);
    pass(2 * hour);
    await fail("table-dataset");
    await fail("page-504/data/list/limit");
    for (const [path, body] of bodies) expect([path, await ask(path)]).toMatchObject([path, { status: 200, body }]);
  });
});

describe("a list without filters is never believed to be empty", () => {
  test("and legacy is not asked for a shorter one", async () => {
    const { ask, pass, load, datasets, asked } = await gatewayOver();
    const bodies = await load(both("data/list/limit/5"));
    pass(2 * hour);
    datasets.splice(0);
    asked();
    for (const [path, body] of bodies) expect([path, await ask(path)]).toMatchObject([path, { status: 200, body }]);
    expect(asked()).toHaveLength(bodies.length);
  });

  test("nor is a list of all qualities or tags", async () => {
    const { ask, core, pass, load, fail, datasets } = await gatewayOver();
    const qualities = ["/v1/datasets/qualities/list", ...forms("data/qualities/list")];
    const tags = both("data/tag/list");
    const bodies = await load([...qualities, ...tags]);
    pass(48 * hour);
    await fail("table-data_quality");
    for (const row of datasets) row.tags = [];
    for (const path of [...qualities, ...tags]) await ask(path);
    await until(async () => (await refreshesFailed(core)) === qualities.length);
    for (const [path, body] of bodies) expect([path, await ask(path)]).toMatchObject([path, { status: 200, body }]);
  });

  test("except a list of tags, after the last tag was removed", async () => {
    const { ask, load, datasets } = await gatewayOver();
    for (const row of datasets) row.tags = row.id === 61 ? [["flowers", 16]] : [];
    const tags = both("data/tag/list");
    await load(tags);
    const body = new URLSearchParams({ api_key: keys.owner, data_id: "61", tag: "flowers" });
    expect((await ask("/api/v1/json/data/untag", {}, { method: "POST", body })).status).toBe(200);
    for (const path of tags) expect((await ask(path)).body).toContain("No tags available");
  });
});

describe("where nothing is stored, what legacy answers stands", () => {
  test("for 5 s if the last look of this minute found no row", async () => {
    const { ask, pass, load, fail } = await gatewayOver();
    const other = (id: number) => both(`data/list/data_id/${id}`);
    await load(flowers);
    pass(2 * hour);
    await fail("table-dataset");
    for (const path of other(1)) expect((await ask(path)).how).toBe("fwd=uri-miss; stored; ttl=60");
    for (const path of flowers) await ask(path);
    for (const path of other(2)) {
      const { how, body } = await ask(path);
      expect([how, body]).toEqual(["fwd=uri-miss; stored; ttl=5", expect.stringContaining("No results")]);
    }
    pass(61 * second);
    for (const path of other(3)) expect((await ask(path)).how).toBe("fwd=uri-miss; stored; ttl=60");
  });

  test("also where the stored list may not be served; the entry stays", async () => {
    const { ask, load, fail } = await gatewayOver();
    const bodies = await load(flowers);
    await fail("table-dataset");
    for (const [path, body] of bodies) {
      expect(await ask(path, { "Cache-Control": "no-cache" })).toMatchObject({
        body: expect.stringContaining("No results"),
        how: "fwd=request",
      });
      expect(await ask(path)).toMatchObject({ status: 200, body });
    }
  });
});

test("an empty list fetched after a keyed list has passed is not believed either", async () => {
  const { pass } = clock();
  const rows = JSON.stringify({ data: { dataset: [{ did: 61, name: "iris", version: 1, status: "active" }] } });
  const legacy = { isFailing: false };
  const { url, seen } = await recordingUpstream(({ target }) => {
    if (!target.includes("/data/list/")) return undefined;
    return legacy.isFailing && !target.includes("api_key") ? xmlError(372, "No results") : { body: rows };
  });
  const { ask } = await cachingOver({ url });
  const list = "/api/v1/json/data/list/tag/flowers";
  await ask(list);
  pass(2 * hour);
  legacy.isFailing = true;
  seen.splice(0);
  expect(await ask(`${list}?api_key=${keys.user}`)).toMatchObject({ status: 200, how: "passed" });
  await until(() => seen.some(({ target }) => target === list));
  expect(await ask(list)).toMatchObject({ status: 200, body: rows });
});
