import { describe, expect, test } from "vitest";
import { samplePaths } from "../../gateway/oldReads/sample.ts";
import { clock } from "../../gateway/cache/support.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { pageOfMetrics } from "../../support/metrics.ts";
import { settled, until } from "../../support/waiting.ts";
import { openOldClients, script } from "./movedReadScript.ts";

const paths = samplePaths().map(({ path }) => path);

test.each(["legacy", "shadow"] as const)("in %s old clients get what they got before", async (stage) => {
  clock();
  const moved = await openOldClients({ stage });
  const unmoved = await openOldClients({ stage, environment: { MOVE_LEGACY: "" } });
  const shownBy = async ({ ask }: typeof moved, path: string) => {
    const { headers, ...answer } = await ask(path);
    return [answer, [...headers].filter(([name]) => name !== "date" && name !== "x-request-id")];
  };
  for (const path of [...paths, ...paths, "/api/v1/json/setup/list", "/api/v1/json/user/list/user_id/1"])
    expect(await shownBy(moved, path)).toEqual(await shownBy(unmoved, path));
  expect(moved.modern.asked()).toEqual({});
});

test("in canary a caller sees one side on both interfaces, and answers are private", async () => {
  const { ask } = await openOldClients({ stage: "canary" });
  const sides = new Set<string>();
  for (let caller = 0; caller < 12; caller++) {
    const seen = new Set<string>();
    for (const path of ["/api/v1/json/data/61", "/v1/datasets/61", "/api/v1/data/61", "/api/v1/json/data/61"]) {
      const key = caller < 10 ? "" : "?api_key=AD000000000000000000000000000000";
      const { headers } = await ask(path + key, { "X-Forwarded-For": `192.0.2.${caller}` });
      expect(headers.get("cache-control")).toMatch(/^private/);
      seen.add(headers.get("gateway-decision") ?? "none");
    }
    const [side = "", ...others] = seen;
    expect(others).toEqual([]);
    sides.add(side);
  }
  expect([...sides].join()).toMatch(/(?=.*backend=legacy)(?=.*backend=modern)/);
});

test("forms count in CACHE_BYTES, and leave with their entry; sides are counted", async () => {
  const { ask, gateway, move } = await openOldClients();
  const { cache, meter } = gateway.core;
  await ask("/v1/datasets/61");
  const { bytes } = cache.size();
  const { body } = await ask("/api/v1/data/61");
  expect(cache.size()).toMatchObject({ entries: 1 });
  expect(cache.size().bytes).toBeGreaterThan(bytes + body.length);
  await ask("/api/v1/data/61");
  const page = await pageOfMetrics(meter);
  expect(page).toContain('catalog_gateway_backend_answers_total{backend="modern",reason="stage"} 3');
  expect(page).toContain('catalog_gateway_old_reads_total{result="hit"} 2');
  await move("getDataset", "canary");
  expect(cache.size()).toMatchObject({ entries: 0, bytes: 0 });
});

const brownOut = JSON.stringify([{ path: "/api/v1/json", from: "2026-11-21T13:00:00Z", status: 410 }]);

describe("an old read in modern", () => {
  script("is written of the entry of the new interface; the hit path answers the second")`
    ask json/data/61 -> 200 modern stored public same | 200 modern hit public same byHitPath
    ask data/61 -> 200 modern hit same !byHitPath
    ask xml/data/61 -> 200 modern hit same | 200 modern hit same byHitPath
    ask /v1/datasets/61 -> 200 modern hit
    ask /v1/tasks/59 -> 200 modern stored
    ask xml/task/59 -> 200 modern hit same
    2 stored
    legacy got 0
    modern got 2
    HEAD ask json/data/61 -> 412 undecided passed
  `;
  script("shares a request with others, on both interfaces")`
    modern holds
    a: ask json/data/61
    b: ask owner xml/data/61
    c: ask /v1/datasets/61
    modern got 1
    modern answers
    a -> 200 modern same
    b -> 200 modern private same
    c -> 200 modern
    modern got 0
  `;
  script("has a validator and codings, and obeys Cache-Control but for only-if-cached")`
    ask xml/data/61 with Cache-Control: only-if-cached -> 200 modern stored
    ask xml/data/61 with If-None-Match: TAG -> 304 modern hit byHitPath
    ask json/data/61 with If-None-Match: TAG -> 200 modern hit | 304 modern hit byHitPath
    ask json/data/61 with Cache-Control: no-cache -> 200 modern fwd=request stored
    ask json/data/61 with Cache-Control: no-store -> 200 modern !stored
    modern got 3
    ask xml/data/list -> 200 modern stored | 200 modern hit
    ask xml/data/list with Accept-Encoding: gzip, br -> until hit br
    ask xml/data/list with Accept-Encoding: gzip -> until hit gzip
  `;
  script("with a right key is the public one, or the caller's own")`
    ask owner json/data/61 -> 200 modern stored private same
    ask other,owner json/data/61 -> 200 modern hit private same
    ask 1,other json/data/16, json/study/105 -> 412 modern no-store same
    ask owner,admin json/data/16 -> 200 modern fwd=bypass no-store bytes
    ask json/data/16 -> 412 modern no-store code=112
    ask owner json/study/105 -> 200 modern fwd=bypass no-store same
    ask json/data/list -> 200 modern stored rows=38
    ask owner xml/data/list, json/data/list -> 200 modern fwd=bypass no-store rows=40
    ask other,admin json/data/list -> 200 modern fwd=bypass no-store rows=38
    ask json/data/list -> 200 modern hit rows=38 byHitPath
  `;
  script("with a wrong key is legacy's refusal, which is remembered")`
    ask json/data/61 -> 200 modern
    ask wrong json/data/61 -> 412 undecided passed code=103 bytes
    legacy got 2
    legacy is down
    ask wrong json/data/61, json/data/list, xml/data/99999 -> 412 no-store code=103
  `;
  script("in a session is the public one, or legacy's")`
    ask session json/data/61 -> 200 modern stored private same | 200 modern hit private byHitPath
    ask session json/data/16 -> 412 undecided passed code=112 bytes
    ask session json/data/list -> 200 undecided passed bytes
    ask browser json/data/61 -> 200 undecided passed bytes
  `;
  script("is legacy's if legacy refuses what our defaults hide, or the gateway cannot read it so")`
    POST ask json/data/61 -> 412 undecided code=102
    ask json/setup/list -> 412 undecided code=670 bytes
    ask json/data/list/offset/3 -> 412 undecided code=373 bytes
    ask json/data/list/limit/1,2, json/data/list/status/Active, json/data/%36%31 -> undecided bytes
    ask json/data/list/nosuchfilter/1 -> 412 undecided code=370 bytes
    ask json/evaluation/list, json/run/list/limit/2, json/study/1 -> undecided bytes
    ask json/user/list/user_id/1 -> 200 undecided stored bytes | 200 undecided hit bytes byHitPath
    ask json/estimationprocedure/1 -> 200 undecided bytes
    modern got 0
    ask json/setup/list/flow/103, json/data/list/limit/2/offset/3 -> 200 modern
  `;
  script("may name its side, if requests may", { environment: { FORCE_BACKEND: "true" } })`
    ask json/data/61 -> 200 modern stored public
    ask json/data/61 with Gateway-Backend: legacy -> 200 legacy private bytes | 200 legacy hit private byHitPath
    ask json/data/61 with Gateway-Backend: modern -> 200 modern hit private byHitPath
    ask json/data/61 -> 200 modern hit public byHitPath
  `;
  script("follows each move, and each write to legacy, at once")`
    move getDataset to legacy
    ask json/data/61 -> 200 undecided stored bytes | 200 undecided hit byHitPath
    move getDataset to modern
    ask json/data/61 -> 200 modern stored | 200 modern hit byHitPath
    move getDataset to canary
    ask 1 json/data/61 -> 200 legacy private hit byHitPath
    ask 2 json/data/61 -> 200 modern private stored | 200 modern private hit byHitPath
    move getDataset to shadow
    ask 2 json/data/61 -> 200 undecided hit byHitPath
    move getDataset to modern
    ask json/data/61 -> 200 modern stored
    tag 61
    ask json/data/61 -> 200 modern stored has:new same
  `;
  script("that a write overtakes is not stored")`
    modern holds
    a: ask json/data/61
    modern got 1
    tag 61
    modern answers
    a -> 200 modern
    ask json/data/61 -> 200 modern stored has:new same
  `;
  script("ends with a brown-out of its path", { environment: { BROWNOUTS: brownOut } })`
    ask json/data/61 -> 200 modern | 200 modern hit byHitPath
    pass 3600 s
    ask json/data/61, json/data/2 -> 410
    ask xml/data/61 -> 200 modern
  `;
  script("has legacy's codes and messages")`
    ask json/data/99999 -> 412 modern stored code=111 bytes
    ask xml/data/99999 -> 412 modern hit code=111 same | 412 modern hit code=111 byHitPath
    ask other json/data/99999 -> 412 modern no-store code=111 bytes
    ask json/data/features/99999 -> 412 modern code=271 bytes
    ask json/data/features/16 -> 412 modern code=275 bytes
    ask json/data/qualities/99999 -> 412 modern code=361 bytes
    ask json/study/105 -> 412 modern code=602 bytes
    ask json/run/trace/3 -> 412 modern code=572 bytes
    ask json/run/trace/99999, json/run/99999, json/task/99999, json/setup/99999 -> 412 modern bytes
    ask json/data/list/tag/nosuch -> 412 modern code=372 bytes
    ask xml/task/list/tag/nosuch, json/run/list/task/99999 -> 412 modern same
    ask json/flow/exists/nope/1 -> 200 modern bytes has:"false" | 200 modern hit byHitPath
  `;
});

describe("a list without a limit", () => {
  script("is joined from pages; it is not stored, its pages are", { page: 15 })`
    ask json/data/list -> 200 modern fwd=bypass no-store rows=38
    modern got 3
    3 stored
    ask xml/data/list, json/data/list -> 200 modern no-store rows=38
    ask json/data/list/limit/15 -> 200 modern hit public rows=15
    ask json/data/list/tag/flowers -> 200 modern stored public | 200 modern hit byHitPath
    modern got 1
    ask owner json/data/list -> 200 modern fwd=bypass no-store rows=40
    modern got 3
  `;
  script("is joined from stored pages if both sides fail", { page: 15 })`
    ask json/data/list -> 200 modern rows=38
    modern is down
    legacy is down
    pass 86400 s
    ask json/data/list, xml/data/list -> 200 modern no-store rows=38
    ask other json/data/list -> 200 modern no-store rows=38
  `;
  // The thread has to start first, on a busy machine.
  const patient = { MODERN_TIMEOUT_MS: "50000" };
  script("may end with an empty page, and is written by a thread", {
    page: 1000,
    datasets: 2000,
    environment: patient,
  })`
    ask json/data/list -> 200 modern no-store rows=2000 same
    modern got 3
  `;
  script("has 50 pages at most", { page: 1, datasets: 50 })`
    ask json/data/list -> 200 legacy rows=50 bytes
    modern got 50
    legacy is down
    ask owner xml/data/list -> !200 code=107
    modern got 0
  `;
  script("needs each of its pages, and room for them", { page: 15, environment: { MEMORY_BYTES: "33554432" } })`
    modern is down :30
    ask json/data/list -> 200 legacy stored bytes | 200 legacy hit bytes
    modern is well
    pass 60 s
    33550000 bytes are taken
    ask owner json/data/list -> 200 undecided bytes
    modern got 2
  `;
  script("is joined once for all with the same key", { page: 5 })`
    modern holds
    a: ask owner json/task/list
    b: ask owner json/task/list
    modern got 2
    modern answers 2
    modern got 1
    modern answers
    a -> 200 modern no-store
    b -> 200 modern no-store
    modern got 1
  `;
  script("is joined for three callers at a time, one for each", { page: 5 })`
    modern holds
    a: ask 1 json/data/list
    modern got 1
    modern answers 1
    modern got 1
    ask 1 xml/data/list -> 200 legacy bytes
    b: ask 2 xml/data/list
    c: ask 3 json/task/list
    modern got 1
    modern answers 2
    modern got 2
    ask 4 xml/task/list -> 200 legacy bytes
    modern answers
    a -> 200 modern rows=38
    b -> 200 modern rows=38
    c -> 200 modern
  `;
  script("of runs in XML has the types of their tasks, or is legacy's", { page: 1 })`
    ask json/run/list/task/1 -> 200 modern no-store same
    modern got 3
    ask xml/run/list/task/1 -> 200 modern no-store same
    modern got 1
    ask xml/run/list/task/1/limit/2 -> 200 modern stored same
    ask xml/run/list/task/7/limit/2 -> 200 legacy bytes
    ask owner xml/run/list/task/7/limit/2 -> 200 modern no-store has:task_type_id>1<
    modern is down listTasks
    pass 61 s
    ask xml/run/list/task/1, xml/run/list/task/1/limit/2 -> 200 legacy bytes
  `;
});

describe("when a side fails", () => {
  for (const fault of ["down", "html", "halfBody", "otherStatus"])
    script(`modern, ${fault}: legacy answers, and its cache`)`
      modern is ${fault}
      ask json/data/61 -> 200 legacy stored bytes | 200 legacy hit bytes !byHitPath
      ask json/data/99999 -> 412 legacy code=111 bytes
      ask owner json/data/16 -> 200 undecided passed bytes
      ask json/data/list -> 200 legacy bytes
      modern is well
      pass 60 s
      ask json/data/61 -> 200 modern stored same
    `;
  for (const form of ["down", "page-403", "empty-500", "page-200", "database", "cut-200"])
    script(`legacy, ${form}: modern answers, and no new key gets an error`)`
      ask owner json/data/61 -> 200 modern
      legacy is ${form}
      ask json/data/99999 -> 412 modern code=111
      ask json/task/59 -> 200 modern same
      ask owner,other,session json/task/59 -> 200 modern hit private
      ask owner json/data/16 -> 200 modern no-store
      pass 61 s
      ask owner json/data/list -> 200 modern no-store rows=40
      ask owner json/data/99999 -> 412 modern code=111
      ask other json/data/list -> 200 modern rows=38 private
      ask other json/data/99999, json/data/16, json/data/list/tag/nosuch -> !modern !code=111 !code=112 !code=372
      ask session json/data/99999, json/user/list/user_id/1 -> !modern !200
      ask browser json/data/61 -> 200 modern stale-if-error
    `;
  script("legacy, frozen: a key is checked for two seconds, once")`
    ask owner json/data/61 -> 200 modern
    ask wrong json/data/61 -> 412 undecided code=103
    pass 61 s
    legacy is frozen
    legacy got 3
    a: ask owner json/data/61
    b: ask other json/data/61
    c: ask owner json/data/16
    d: ask other json/data/16
    e: ask wrong json/data/61
    legacy got 3
    pass 2 s
    a -> 200 modern private
    b -> 200 modern private
    c -> 200 modern no-store
    legacy got 2
  `;
  for (const form of ["down", "page-403", "page-301", "page-200", "page-502", "empty-500", "empty-200", "database"])
    script(`both, ${form}: modern's earlier document, on both interfaces; else an error`)`
      ask owner json/data/61 -> 200 modern
      modern is down
      legacy is ${form}
      pass 86400 s
      ask json/data/61 -> 200 modern stale-if-error same | 200 modern stale-if-error
      ask owner,other,session,browser xml/data/61 -> 200 modern stale-if-error same
      ask /v1/datasets/61 -> 200 modern stale-if-error
      ask json/data/2, /v1/datasets/2 -> !modern !has:"name"
    `;
  script("both: legacy's earlier document, if there is one")`
    modern is down
    ask json/data/61 -> 200 legacy stored bytes
    legacy is down
    pass 86400 s
    ask json/data/61 -> 200 legacy stale-if-error bytes
    ask json/data/2 -> !200 legacy code=107
  `;
});

test.each([
  ["/api/v1/json/data/61", 412],
  ["/v1/datasets/61", 403],
])("%s that legacy calls private is not shown as modern had it", async (path, refused) => {
  const { pass } = clock();
  const { ask, datasets, legacy, modern } = await openOldClients();
  const statuses = [(await ask(path)).status];
  modern.use([{ endpoint: "*", fault: "down" }]);
  pass(86_400_000);
  for (const dataset of datasets) if (dataset.id === 61) dataset.visibility = "private";
  statuses.push((await ask(path)).status);
  legacy.trouble = "down";
  pass(61_000);
  statuses.push((await ask(path)).status);
  expect(statuses).toEqual([200, refused, 502]);
});

test("what modern calls private is not shown as legacy had it", async () => {
  const { ask, datasets, legacy, modern, move } = await openOldClients({ stage: "legacy" });
  const statuses = [(await ask("/api/v1/json/data/61")).status];
  for (const dataset of datasets) if (dataset.id === 61) dataset.visibility = "private";
  await move("getDataset", "modern");
  statuses.push((await ask("/api/v1/json/data/61")).status);
  modern.use([{ endpoint: "*", fault: "down" }]);
  legacy.trouble = "down";
  statuses.push((await ask("/api/v1/json/data/61")).status);
  expect(statuses).toEqual([200, 412, 502]);
});

test("a list without rows is legacy's to answer, and errors have legacy's words", async () => {
  const errors = { status: 404, detail: { code: "111", message: "gone", additional_information: { no: "text" } } };
  const MODERN_URL = await httpUpstream((request, response) => {
    request.resume();
    const isList = request.method === "POST";
    response.writeHead(isList ? 200 : errors.status, { "Content-Type": "application/json" });
    response.end(isList ? "[]" : JSON.stringify(errors));
  });
  const { ask } = await openOldClients({ environment: { MODERN_URL } });
  for (const form of ["json", "xml"]) {
    const { headers, body } = await ask(`/api/v1/${form}/data/list/limit/2`);
    expect([headers.get("gateway-decision"), body]).toEqual([
      expect.stringContaining("backend=legacy"),
      expect.stringContaining("harbour_tides"),
    ]);
    const { body: error } = await ask(`/api/v1/${form}/data/61`);
    expect(error).toMatch(/111.*Unknown dataset/s);
  }
});

test("pages of a list that nobody waits for are not asked for", async () => {
  const dataset = { did: 1, name: "a", version: 1, format: "arff", file_id: 1, status: "active", md5_checksum: "" };
  const held: (() => void)[] = [];
  const MODERN_URL = await httpUpstream((request, response) => {
    request.resume();
    response.writeHead(200, { "Content-Type": "application/json" });
    held.push(() => response.end(JSON.stringify([{ ...dataset, quality: [] }])));
  });
  const { gateway } = await openOldClients({ page: 1, environment: { MODERN_URL } });
  const leaving = new AbortController();
  const left = fetch(`${gateway.url}/api/v1/json/data/list`, { signal: leaving.signal }).catch(() => "left");
  for (let page = 0; page < 2; page++) {
    await until(() => held.length > 0);
    held.shift()?.();
  }
  await until(() => held.length > 0);
  leaving.abort();
  expect(await left).toBe("left");
  await settled();
  held.shift()?.();
  await settled();
  expect(held).toEqual([]);
});
