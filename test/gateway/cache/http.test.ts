import { brotliDecompressSync, gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exchange } from "../answer/support.ts";
import { get, request, send } from "../proxy/support.ts";
import { valueOf } from "../../support/metrics.ts";
import { alice, cachedGateway, clock, kept, markOf } from "./support.ts";

const path = "/v1/datasets/61";
const minute = 60_000;

describe("a hit over a socket", () => {
  test.each(Object.entries(kept))(
    "%s: the same bytes and headers as the cached answer, and its age",
    async (_, target) => {
      const { pass } = clock();
      const { port, legacy } = await cachedGateway();
      const first = await exchange(port, get(target));
      pass(7000);
      const hit = await exchange(port, get(target));
      expect([hit.status, hit.body]).toEqual([200, first.body]);
      const changing = new Set(["age", "cache-status", "server-timing", "date", "x-request-id"]);
      const constant = (headers: typeof hit.headers) =>
        [...headers].filter(([name = ""]) => !changing.has(name)).toSorted(([a = ""], [b = ""]) => a.localeCompare(b));
      expect(constant(hit.headers)).toEqual(constant(first.headers));
      expect(hit.headers.get("age")).toBe("7");
      expect(first.headers.get("age")).toBeUndefined();
      expect(hit.headers.get("cache-status")).toMatch(/^catalog-gateway; hit; ttl=\d+$/);
      expect(hit.headers.get("server-timing")).toBe("cache;desc=hit");
      expect(first.headers.get("server-timing")).toMatch(/^cache;desc=miss, upstream;dur=[\d.]+, total;dur=[\d.]+$/);
      expect(legacy.asked).toHaveLength(1);
    },
  );

  test("HEAD and GET share an entry: each is answered from the other's fetch", async () => {
    const { port, legacy } = await cachedGateway();
    const head = await exchange(port, request(`HEAD ${path}`));
    const got = await exchange(port, get(path));
    const again = await exchange(port, request(`HEAD ${path}`));
    expect([head.body, again.body]).toEqual(["", ""]);
    for (const { headers } of [head, again]) expect(headers.get("content-length")).toBe(String(got.body.length));
    expect([got, again].map(({ headers }) => headers.get("cache-status"))).toEqual([
      expect.stringContaining("; hit"),
      expect.stringContaining("; hit"),
    ]);
    expect(legacy.asked).toHaveLength(1);
  });

  test("every spelling of a request is one entry: 007 is 7, a list's body is its path", async () => {
    const { ask, post, legacy, core } = await cachedGateway({ PREFIXES: "/v1,/api/v2" });
    for (const spelling of [
      "/v1/datasets/7",
      "/v1/datasets/007",
      "/v1/datasets/+7/",
      "/api/v2/datasets/7",
      "/v1/datasets/7?api_key=",
    ])
      expect((await ask(spelling)).status).toBe(200);
    for (const spelling of [
      "/v1/data/list/limit/5/status/active",
      "/v1/data/list/status/active/limit/005/",
      "/api/v2/data/list/limit/5",
    ])
      expect((await ask(spelling)).status).toBe(200);
    for (const body of [{ limit: 5 }, { pagination: { limit: 5 } }, { offset: 0, limit: 5, tag: null }])
      expect((await post("/v1/datasets/list", body)).how).toMatch(/^hit/);
    expect(legacy.asked).toEqual(["GET /data/7", "GET /data/list/status/active/limit/5/offset/0"]);
    expect(core.cache.size().entries).toBe(2);
  });

  test("two requests are never one entry", async () => {
    const { ask, legacy } = await cachedGateway();
    const targets = [
      "/v1/datasets/6",
      "/v1/datasets/61",
      "/v1/setup/6",
      "/v1/studies/99",
      "/v1/flow/exists/a/bc",
      "/v1/flow/exists/ab/c",
      "/v1/data/list/tag/a",
      "/v1/data/list/data_name/a",
    ];
    for (const target of targets) expect((await ask(target)).how).toMatch(/^fwd=uri-miss; stored/);
    expect(legacy.asked).toHaveLength(targets.length);
  });
});

test("the answer to a write names the groups that it changed, and how long legacy took", async () => {
  const { as, post } = await cachedGateway();
  const { headers, how } = await post("/v1/datasets/tag", { data_id: 61, tag: "a" }, as(alice));
  expect([how, headers.get("cache-group-invalidation")]).toEqual(["fwd=method", '"dataset/61", "datasets"']);
  expect(headers.get("server-timing")).toMatch(/^cache;desc=miss, upstream;dur=[\d.]+, total;dur=[\d.]+$/);
});

test("whatever the target and the headers: the front answers as the router does", async () => {
  const { port, app } = await cachedGateway({ PREFIXES: "/v1,/api/v2" });
  const names = "datasets 61 061 +61 %36%31 data list limit 5 status all . .. flow exists a %2F a%2Db studies 99 x%20y";
  const segment = fc.constantFrom("", ...names.split(" "));
  const target = fc.tuple(
    fc.constantFrom("/v1", "/api/v2", "/v1/datasets", "/v1/data/list"),
    fc.array(segment, { maxLength: 4 }),
    fc.constantFrom("", "?", "?x=1", "?api_key=", "#f", "?a#?b", `?api_key=${alice}`),
  );
  const line = target.map(([base, segments, end]) => [base, ...segments].join("/") + end);
  await fc.assert(
    fc.asyncProperty(line, fc.constantFrom("GET", "HEAD", "POST", "OPTIONS"), async (asked, method) => {
      const lines = [`${method} ${asked}`, `${method} http://front.example${asked}`];
      const statuses = new Set<string>();
      // The first answer may be the router's, the others the front's.
      for (const start of [...lines, ...lines, lines[0] as string]) {
        const { status, body } = await exchange(port, request(start, "Content-Length: 0"));
        statuses.add(`${status} ${body}`);
      }
      expect([asked, [...statuses]]).toEqual([asked, [expect.any(String)]]);
    }),
    { numRuns: 150 },
  );
  expect((await app.request("/v1/datasets/61")).status).toBe(200);
});

describe("validators", () => {
  test("If-None-Match: 304 with its headers and no body, on a hit and on a miss", async () => {
    const { port, core } = await cachedGateway();
    const tag = (await exchange(port, get(path))).headers.get("etag") as string;
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`, "*", tag.replace(/"$/, '-gzip"')]) {
      const { status, headers, body } = await exchange(port, get(path, `If-None-Match: ${header}`));
      expect([header, status, body]).toEqual([header, 304, ""]);
      for (const name of ["etag", "cache-control", "vary", "cache-status", "date", "age"])
        expect([name, headers.get(name)]).not.toEqual([name, undefined]);
      expect(headers.get("content-type")).toBeUndefined();
    }
    for (const header of ['"x"', tag.slice(1, -1), `"${tag.slice(2)}`])
      expect((await exchange(port, get(path, `If-None-Match: ${header}`))).status).toBe(200);
    await core.cache.invalidate({ all: true });
    expect((await exchange(port, get(path, `If-None-Match: ${tag}`))).status).toBe(304);
  });

  test("the tag follows the bytes: the same bytes have the same tag", async () => {
    const { ask, legacy, core } = await cachedGateway();
    const tagNow = async () => (await ask(path, { "Cache-Control": "no-cache" })).headers.get("etag");
    const first = await tagNow();
    expect(await tagNow()).toBe(first);
    legacy.version = 2;
    expect(await tagNow()).not.toBe(first);
    legacy.version = 1;
    await core.cache.invalidate({ all: true });
    expect(await tagNow()).toBe(first);
  });

  test("errors and posted lists have none", async () => {
    const { ask, post, legacy } = await cachedGateway();
    for (let i = 0; i < 2; i++) {
      const posted = await post("/v1/datasets/list", {}, { "If-None-Match": "*" });
      expect([posted.status, posted.headers.get("etag")]).toEqual([200, null]);
    }
    expect((await ask("/v1/datasets/list")).headers.get("etag")).toMatch(/^"/);
    legacy.gone = true;
    const missing = await ask(path, { "If-None-Match": "*" });
    expect([missing.status, missing.headers.get("etag")]).toEqual([404, null]);
  });
});

describe("codings", () => {
  const large = "/v1/datasets/777";
  const codingOf = (head: string) => /^content-encoding: (.*)$/im.exec(head)?.[1]?.trim();
  const accepting: [string, string | undefined][] = [
    ["br", "br"],
    ["gzip", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["*", "br"],
    ["*;q=0", undefined],
    ["identity", undefined],
    ["identity;q=1, gzip;q=0.5", undefined],
    ["deflate", undefined],
    ["GZIP", "gzip"],
    ["x-gzip", "gzip"],
    ["br;q=0, *", "gzip"],
    ["br;q=x, gzip;q=0.1", "gzip"],
    ["", undefined],
  ];
  test("a hit has the coding that its client prefers, once it was made in the background", async () => {
    const { port } = await cachedGateway();
    const ask = (accepted: string) => send(port, get(large, `Accept-Encoding: ${accepted}`));
    for (let i = 0; i < 2; i++) expect(codingOf((await ask("br, gzip")).head)).toBeUndefined();
    for (const coding of ["br", "gzip"]) await expect.poll(async () => codingOf((await ask(coding)).head)).toBe(coding);
    for (const [accepted, coding] of accepting) {
      const { head, body } = await ask(accepted);
      const bytes = Buffer.from(body, "latin1");
      const plain = coding === "br" ? brotliDecompressSync(bytes) : coding === "gzip" ? gunzipSync(bytes) : bytes;
      expect([accepted, codingOf(head), markOf(plain.toString())]).toEqual([accepted, coding, "nobody 1"]);
      expect(Number(/^content-length: (\d+)/im.exec(head)?.[1])).toBe(bytes.length);
      expect(head).toMatch(new RegExp(`etag: "[\\w-]{22}${coding === undefined ? "" : `-${coding}`}"`, "i"));
      expect(head).toMatch(/vary: accept-encoding/i);
    }
  });

  test("a small answer is not compressed", async () => {
    const { port } = await cachedGateway();
    for (let i = 0; i < 2; i++)
      expect((await send(port, get(kept.listEvaluationMeasures, "Accept-Encoding: br"))).body).toBe('["nobody 1"]');
  });
});

describe("the directives of a client", () => {
  test.each<[said: string, age: number, how: RegExp, version: number | undefined]>([
    ["no-cache", 0, /^fwd=request; stored/, 2],
    ["max-age=0", 0, /^fwd=request; stored/, 2],
    ["max-age=60", minute, /^hit; ttl=540/, 1],
    ["max-age=59", minute, /^fwd=request; stored/, 2],
    // These two are ignored.
    ["max-age=59, max-stale=1", minute, /^fwd=request; stored/, 2],
    ["min-fresh=541", minute, /^hit/, 1],
    ["no-store", minute, /^fwd=request; ttl/, 2],
    ["only-if-cached", minute, /^hit/, 1],
    ["only-if-cached", 60 * minute, /^hit; ttl=-3000; detail=stale-while-revalidate/, 1],
    ["only-if-cached", 60 * 48 * minute, /^detail=only-if-cached/, undefined],
    ["only-if-cached, max-stale", 60 * 48 * minute, /^detail=only-if-cached/, undefined],
    ["max-stale=172800", 60 * 48 * minute, /^fwd=stale; stored/, 2],
    ["no-cache, only-if-cached", 0, /^detail=only-if-cached/, undefined],
    ["nonsense, max-age=x, =, ,", minute, /^hit/, 1],
    ['MAX-AGE="59"', minute, /^fwd=request; stored/, 2],
    ["max-age=-1", minute, /^hit/, 1],
  ])("Cache-Control: %s, %i ms old: %s", async (said, age, how, version) => {
    const { pass } = clock();
    const { ask, legacy } = await cachedGateway();
    await ask(path);
    legacy.version = 2;
    pass(age);
    const answer = await ask(path, { "Cache-Control": said });
    expect(answer.how).toMatch(how);
    expect([answer.status, markOf(answer.body)]).toEqual(
      version === undefined ? [504, "none"] : [200, `nobody ${version}`],
    );
  });

  test("Pragma: no-cache counts where there is no Cache-Control", async () => {
    const { ask } = await cachedGateway();
    await ask(path);
    expect((await ask(path, { Pragma: "x" })).how).toMatch(/^hit/);
    expect((await ask(path, { Pragma: "no-cache" })).how).toMatch(/^fwd=request/);
    expect((await ask(path, { Pragma: "no-cache", "Cache-Control": "max-age=60" })).how).toMatch(/^hit/);
  });

  test("no-cache gets legacy's failure, and the entry stays", async () => {
    const { ask, legacy } = await cachedGateway();
    await ask(path);
    Object.assign(legacy, { trouble: "empty-500", sparesProbes: true });
    expect((await ask(path, { "Cache-Control": "no-cache" })).status).toBe(502);
    expect((await ask(path)).how).toMatch(/^hit/);
  });

  test("an answer to no-store is not stored", async () => {
    const { ask, core } = await cachedGateway();
    await ask(path, { "Cache-Control": "no-store" });
    expect(core.cache.size().entries).toBe(0);
  });

  test("a wrong key and only-if-cached: 401 comes first", async () => {
    const { ask, as } = await cachedGateway();
    expect((await ask(path, { "Cache-Control": "only-if-cached", ...as("c".repeat(32)) })).status).toBe(401);
    expect((await ask(path, { "Cache-Control": "only-if-cached", ...as(alice) })).status).toBe(504);
  });
});

describe("answers that are never stored", () => {
  test.each([
    ["422 of an input", "/v1/datasets/abc", {}, 422],
    ["403", path, { privateTo: alice }, 403],
    ["502", path, { trouble: "empty-500", sparesProbes: true }, 502],
  ])("%s", async (_, target, change, status) => {
    const { ask, legacy, core } = await cachedGateway();
    Object.assign(legacy, change);
    const answer = await ask(target);
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([status, "no-store"]);
    expect(core.cache.size().entries).toBe(0);
  });
});

test("a list of origins: each page gets its own origin, and all share one entry", async () => {
  const { ask, legacy } = await cachedGateway({ CORS_ORIGINS: "https://a.example,https://b.example" });
  for (let i = 0; i < 2; i++)
    for (const [origin, allowed] of [
      ["https://a.example", "https://a.example"],
      ["https://b.example", "https://b.example"],
      ["https://c.example", null],
    ] as const) {
      const { headers } = await ask(path, { Origin: origin });
      expect([headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([
        allowed,
        expect.stringMatching(/, Origin$/),
      ]);
    }
  expect(legacy.asked).toHaveLength(1);
});

test("with CACHE_BYTES=0 nothing is stored, and each request is a miss", async () => {
  const { ask, legacy } = await cachedGateway({ CACHE_BYTES: "0" });
  await ask(path);
  expect((await ask(path)).how).toMatch(/^fwd=uri-miss; ttl/);
  expect(legacy.asked).toHaveLength(2);
});

test.each(["1", "15", "16"])("with CACHE_BYTES=%s no answer is small enough to be stored", async (bytes) => {
  const { ask, core } = await cachedGateway({ CACHE_BYTES: bytes });
  for (let i = 0; i < 2; i++) expect((await ask(path)).status).toBe(200);
  expect(core.cache.size().bytes).toBeLessThanOrEqual(Number(bytes));
});

test("the least recently used answers are evicted for CACHE_BYTES, and counted", async () => {
  const { ask, core } = await cachedGateway({ CACHE_BYTES: "30000" });
  const ids = Array.from({ length: 20 }, (_, i) => i + 1);
  for (const id of ids) for (const asked of [99, id]) expect((await ask(`/v1/datasets/${asked}`)).status).toBe(200);
  const { bytes, entries } = core.cache.size();
  expect(bytes).toBeLessThanOrEqual(30_000);
  expect(entries).toBeGreaterThan(5);
  expect(await valueOf(core.meter, "cache_evictions_total")).toBe(21 - entries);
  expect((await ask("/v1/datasets/99")).how).toMatch(/^hit/);
  expect((await ask("/v1/datasets/1")).how).toMatch(/^fwd=uri-miss/);
});
