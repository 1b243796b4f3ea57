import { hasFeatures } from "../../support/hasFeatures.ts";
import { describe, expect, test } from "vitest";
import { pseudonym } from "../../../src/gateway/upstream/forwarding.ts";
import { settingsOf } from "../../support/settings.ts";
import { until } from "../../support/waiting.ts";
import { clock } from "../cache/support.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { alice, caching, cachingOver, documents, error, json, mallory, minute, startLegacy, xml } from "./support.ts";

describe("a read of the legacy interface", () => {
  test.each([
    [json, "json", "application/json; charset=utf-8"],
    ["/api/v1/xml/data/61", "xml", "text/xml; charset=utf-8"],
    [xml, "xml", "text/xml; charset=utf-8"],
  ])("%s is legacy's, byte for byte, from the cache, also when legacy is down", async (path, form, type) => {
    const { pass } = clock();
    const { legacy, ask } = await caching();
    expect((await ask(path)).how).toMatch(/^fwd=uri-miss; stored/);
    const second = await ask(path);
    expect([second.status, second.body, second.headers.get("content-type")]).toEqual([200, documents[form], type]);
    expect(second.how).toMatch(/^hit/);
    expect(legacy.asked).toEqual([`GET ${path}`]);
    expect(second.headers.get("cache-control")).toBe("public, no-cache");
    expect(second.headers.get("vary")).toBe("Accept-Encoding, Cookie, Authorization");
    expect(second.headers.get("access-control-allow-origin")).toBe("*");
    expect([second.headers.get("set-cookie"), second.headers.get("expires")]).toEqual([null, null]);
    legacy.mode = "down";
    pass(24 * 60 * minute);
    const stale = await ask(path);
    expect([stale.status, stale.body, stale.headers.get("age")]).toEqual([200, documents[form], "86400"]);
    expect(stale.how).toContain("stale-if-error");
  });

  test("a page of another origin may read the headers that the cache adds", async () => {
    const { ask } = await caching();
    const answers = [await ask(json), await ask(json)];
    for (const { headers } of answers) {
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-expose-headers")).toBe(
        "Age, Cache-Status, ETag, Deprecation, Link, Retry-After, Sunset, X-Request-Id",
      );
    }
  });

  test("its tag is answered with 304, and it is compressed from the second request on", async () => {
    const { ask } = await caching();
    const { headers } = await ask(json);
    const tag = headers.get("etag") as string;
    expect((await ask(json, { "If-None-Match": tag })).status).toBe(304);
    expect((await ask(json, { "If-None-Match": tag, "Cache-Control": "no-cache" })).status).toBe(304);
    expect((await ask(xml, { "If-None-Match": tag })).status).toBe(200);
  });

  test("aliases and doubled slashes of a path are one entry, and the two forms are two", async () => {
    const { legacy, ask } = await caching();
    for (const path of [
      json,
      "/api/v1/json/data/61/",
      "/api_new/v1/json//data/61",
      "/index.php/api/v1/json/data/61",
      xml,
    ])
      expect((await ask(path)).status).toBe(200);
    expect(legacy.asked).toEqual([`GET ${json}`, `GET ${xml}`]);
  });

  test.each<[string, string, Record<string, string>, RequestInit]>([
    ["another method", json, {}, { method: "HEAD" }],
    ["another query", `${json}?x=1`, {}, {}],
    ["a key that is none", `${json}?api_key=a-b`, {}, {}],
    ["two keys", `${json}?api_key=${alice}&api_key=${alice}`, {}, {}],
    ["Authorization", json, { Authorization: "Bearer x" }, {}],
    ["X-API-Key", json, { "X-API-Key": alice }, {}],
    ["a range", json, { Range: "bytes=0-1" }, {}],
    ["an escape", "/api/v1/json/data/%361", {}, {}],
    ["a path that reads nothing", "/api/v1/json/data/61/x/y", {}, {}],
    ["a path outside", "/data/v1/download/61", {}, {}],
  ])("with %s it passes, untouched", async (_, path, headers, init) => {
    const { legacy, ask } = await caching();
    await ask(json);
    const { how } = await ask(path, headers, init);
    expect([how, legacy.asked.length]).toEqual(["passed", 2]);
  });

  test("by default it passes", async () => {
    const { legacy, ask } = await caching({ CACHE_LEGACY: "" });
    for (let i = 0; i < 2; i++) expect((await ask(json)).headers.get("set-cookie")).toContain("ci_session");
    expect(legacy.asked).toHaveLength(2);
  });

  test("only the endpoints that CACHE_LEGACY names are cached", async () => {
    const { ask } = await caching({ CACHE_LEGACY: "listEvaluationMeasures" });
    expect((await ask(json)).how).toBe("passed");
    expect((await ask("/api/v1/json/evaluationmeasure/list")).how).toMatch(/stored/);
  });
});

describe("answers that may be stored", () => {
  test("a page in place of an answer is passed on unchanged, fetched once, not stored", async () => {
    const { legacy, ask } = await caching();
    legacy.page = "<html>An error</html>";
    const page = await ask(json);
    expect([page.status, page.body, page.headers.get("content-type")]).toEqual([200, legacy.page, "text/html"]);
    expect([page.headers.get("set-cookie"), legacy.asked.length]).toEqual([null, 1]);
    delete legacy.page;
    legacy.error = 107;
    expect((await ask(json)).body).toBe(error(107));
    delete legacy.error;
    expect((await ask(json)).how).toMatch(/stored/);
  });

  test("a 404 is stored for its minute, and an upload invalidates it", async () => {
    const { legacy, ask } = await caching();
    legacy.error = 111;
    for (let i = 0; i < 2; i++) expect(await ask(json)).toMatchObject({ status: 412, body: error(111) });
    expect(legacy.asked).toHaveLength(1);
    const body = new FormData();
    body.set("api_key", alice);
    await ask("/api/v1/json/data", {}, { method: "POST", body });
    delete legacy.error;
    expect((await ask(json)).status).toBe(200);
  });

  test.runIf(hasFeatures)("a purge by endpoint purges both forms, and leaves other endpoints", async () => {
    const { ask, see } = await caching();
    for (const path of [json, xml, "/api/v1/json/evaluationmeasure/list"]) await ask(path);
    const body = '{"endpoint": "getDataset", "hard": true}';
    const purge = await see("/purge", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    expect(purge.status).toBe(200);
    for (const path of [json, xml]) expect((await ask(path)).how).toMatch(/^fwd=uri-miss/);
    expect((await ask("/api/v1/json/evaluationmeasure/list")).how).toMatch(/^hit/);
  });

  test("an answer that is larger than legacy's may be passes, next time at once", async () => {
    const { legacy, ask } = await caching({ MAX_REPLY_BYTES: "1024" });
    documents["large"] = `{"data_set_description":{"id":"61","description":"${"x".repeat(2000)}"}}`;
    legacy.page = documents["large"];
    for (let i = 0; i < 2; i++) expect((await ask(json)).body).toBe(legacy.page);
    expect(legacy.asked).toHaveLength(3);
  });
});

describe("a caller with a key", () => {
  test("with a known key gets the public answer, which is fetched without the key", async () => {
    const { legacy, ask } = await caching();
    const first = await ask(`${json}?api_key=${alice}`);
    expect([first.status, first.headers.get("cache-control")]).toEqual([200, "private, no-cache"]);
    expect(legacy.asked.filter((line) => line.includes("/data/61"))).toEqual([`GET ${json}`]);
    expect((await ask(json)).how).toMatch(/^hit/);
    const asked = legacy.asked.length;
    expect((await ask(`${json}?api_key=${alice}`)).how).toMatch(/^hit/);
    expect(legacy.asked).toHaveLength(asked);
  });
});

describeWithRedis("two gateways and a Redis", () => {
  test("both serve each other's answers with their type; a write invalidates both forms", async () => {
    const redis = await startRedis();
    const legacy = await startLegacy();
    const shared = { REDIS_URL: redis.url };
    const [a, b] = [await cachingOver(legacy, shared), await cachingOver(legacy, shared)];
    await until(() => [a, b].every(({ core }) => core.cache.sharing() === "in step"));
    for (const path of [json, xml]) {
      await a.ask(path);
      await until(async () => (await b.ask(path)).how.startsWith("hit"));
      const second = await b.ask(path);
      const form = path === json ? "json" : "xml";
      expect([second.body, second.headers.get("content-type")]).toEqual([
        documents[form],
        `${form === "json" ? "application/json" : "text/xml"}; charset=utf-8`,
      ]);
    }
    await b.tag();
    for (const path of [json, xml]) expect((await a.ask(path)).how).toMatch(/^fwd=uri-miss/);
  });

  test("a 404 lasts as long in the second gateway", async () => {
    const redis = await startRedis();
    const legacy = await startLegacy();
    const settings = { REDIS_URL: redis.url, CACHE_LIFETIMES: JSON.stringify({ getDataset: { notFoundTtl: "7d" } }) };
    const [a, b] = [await cachingOver(legacy, settings), await cachingOver(legacy, settings)];
    await until(() => [a, b].every(({ core }) => core.cache.sharing() === "in step"));
    legacy.error = 111;
    expect(await a.ask(json)).toMatchObject({ status: 412, body: error(111) });
    legacy.mode = "down";
    await until(async () => (await b.ask(json)).status === 412);
    expect((await b.ask(json)).how).toMatch(/^hit; ttl=604\d{3}$/);
  });
});

describe("a hit of an old client", () => {
  /** One that is stored already. */
  const hit = async (environment: Record<string, string> = {}) => {
    const gateway = await caching(environment);
    for (const how of [/^fwd=uri-miss/, /^hit/]) expect((await gateway.ask(json)).how).toMatch(how);
    return gateway;
  };

  test.runIf(hasFeatures)(
    "counts as a read of an old client by what it asks for, not for the new interface",
    async () => {
      const { core, ask, see } = await hit();
      expect(core.traffic.reads()).toMatchObject([{ name: "legacy getDataset", requests: 2, hits: 1, errors: 0 }]);
      expect([core.traffic.others(), core.traffic.of("getDataset").requests]).toEqual([[], 0]);
      const text = await (await see("/metrics")).text();
      const counted = text
        .split("\n")
        .filter((line) => /^catalog_gateway_(old_reads|requests|cache_answers)_total/.test(line));
      expect(counted.filter((line) => !line.endsWith(" 0"))).toEqual([
        'catalog_gateway_old_reads_total{result="hit"} 1',
        'catalog_gateway_old_reads_total{result="miss"} 1',
      ]);
      await ask(`${json}?api_key=${mallory}`);
      expect(await (await see("/metrics")).text()).toContain('catalog_gateway_old_reads_total{result="passed"} 1');
    },
  );

  test.runIf(hasFeatures)(
    "has the headers of a deprecation by its own path, also where one entry has two",
    async () => {
      const deprecated = [{ path: "/api/v1/xml", since: "2026-01-01", link: "https://catalogue.example/new" }];
      const { ask } = await caching({ DEPRECATED: JSON.stringify(deprecated) });
      await ask(xml);
      for (const [path, expected] of [
        [xml, null],
        ["/api/v1/xml/data/61", "@1767225600"],
        [xml, null],
        ["/api/v1/xml/data/61", "@1767225600"],
      ] as const) {
        const { how, headers } = await ask(path);
        expect([how, headers.get("deprecation")]).toEqual([expect.stringMatching(/^hit/), expected]);
      }
    },
  );

  test.runIf(hasFeatures)("is listed among the callers of legacy", async () => {
    const { see } = await hit();
    const clients = (await (await see("/clients")).json()) as { path: string; count: number }[];
    expect(clients.map(({ path, count }) => [path, count])).toEqual([["/api/v1/json/data/{id}", 2]]);
  });

  test("is of the scheme that legacy was told, also after requests over the other scheme", async () => {
    const { legacy, ask } = await caching({ TRUSTED_PROXIES: "127.0.0.1" });
    const [http, https] = ["http", "https"].map((scheme) => ({ "X-Forwarded-Proto": scheme }));
    for (const headers of [http, https]) expect((await ask(json, headers)).how).toMatch(/^fwd=uri-miss/);
    for (const headers of [http, https, http, https]) expect((await ask(json, headers)).how).toMatch(/^hit/);
    expect(legacy.seen.map(({ headers }) => headers["x-forwarded-proto"])).toEqual(["http", "https"]);
  });

  test.runIf(hasFeatures)("gives way to a brown-out, and to the refusal of a loop", async () => {
    const [from, end] = [-minute, minute].map((ms) => new Date(Date.now() + ms).toISOString());
    const { core, features, ask } = await hit();
    expect((await ask(json, { Via: `1.1 ${pseudonym}` })).status).toBe(502);
    const brownout = JSON.stringify([{ path: json, from, until: end, status: 503 }]);
    const next = settingsOf({ LEGACY_URL: core.settings.LEGACY_URL, BROWNOUTS: brownout });
    if ("settings" in next) await features.reload(next.settings);
    expect((await ask(json)).status).toBe(503);
    expect((await ask(`${json}/`)).status).toBe(503);
  });

  test.runIf(hasFeatures)("is on the page: the share of the cache, and in an outage the failed reads", async () => {
    const { pass } = clock();
    const { legacy, ask, see } = await hit();
    const shown = async () => {
      const page = (await (await see("/")).text()).replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
      return /answers .*?old clients’ reads|Clients get errors.*?\)/.exec(page)?.[0];
    };
    expect(await shown()).toBe("answers 50 % of old clients’ reads");
    legacy.mode = "down";
    pass(24 * 60 * minute);
    for (let i = 0; i < 3; i++) await ask(json);
    // So many failures open the circuit.
    for (let i = 0; i < 20; i++) await ask(`/api/v1/json/data/${100 + i}`);
    expect(await shown()).toBe("Clients get errors: 20 of 25 in the last minute (getDataset of old clients 20 of 25)");
  });
});

test("the start refuses endpoints that are unknown or write, and no cache", () => {
  const errorsOf = (environment: Record<string, string>) => {
    const loaded = settingsOf({ LEGACY_URL: "http://127.0.0.1:1", ...environment });
    return "errors" in loaded ? loaded.errors.join("\n") : "";
  };
  expect(errorsOf({ CACHE_LEGACY: "getNothing" })).toMatch(/^CACHE_LEGACY.*getNothing.*allowed/);
  expect(errorsOf({ CACHE_LEGACY: "tagDataset" })).toMatch(/^CACHE_LEGACY.*tagDataset.*allowed are getDataset/);
  expect(errorsOf({ CACHE_LEGACY: "all", CACHE_BYTES: "0" })).toMatch(/^CACHE_LEGACY.*CACHE_BYTES 0/);
  expect(errorsOf({ CACHE_LEGACY: "getDataset,listDatasets" })).toBe("");
});
