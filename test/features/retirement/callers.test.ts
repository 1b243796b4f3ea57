import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { get, request, send } from "../../gateway/proxy/support.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { settled, until } from "../../support/waiting.ts";
import { datasets, gatewayOver, goodKeys, stoppedAt, window } from "./support.ts";

const [key, other] = goodKeys;
const path = "/api/v1/json/data/1";
const aHash = expect.stringMatching(/^[\w-]{12}$/) as string;

/** `call` sends requests to the legacy interface, eight at a time, and waits until they are counted. */
const opened = async (settings: Parameters<typeof gatewayOver>[0] = {}) => {
  const gateway = await gatewayOver(settings);
  const call = async (requests: readonly (readonly [target: string, ...headers: string[]])[]) => {
    const left = [...requests];
    const shoot = async () => {
      for (let next = left.shift(); next; next = left.shift()) await send(gateway.port, get(...next));
    };
    await Promise.all(Array.from({ length: 8 }, shoot));
    await settled();
  };
  const stop = async () => {
    await gateway.features.retirement.close();
    await gateway.features.stores.close();
  };
  return { ...gateway, call, stop };
};

describe("the list of callers", () => {
  test("callers differ by key, agent and path; the latest comes first", async () => {
    const time = stoppedAt("2026-11-21T12:00:00Z");
    const { call, clients } = await opened();
    const at = ["2026-11-21T12:00:00.000Z", "2026-11-21T12:00:01.000Z", "2026-11-21T12:00:02.000Z"] as const;
    await call([[path, "User-Agent: x"]]);
    time.set(at[1]);
    await call([[`${path}?api_key=${key}`, "User-Agent: x"]]);
    time.set(at[2]);
    await call([[path, "User-Agent: x"], [path]]);
    const dataset = { path: "/api/v1/json/data/{id}" };
    const [first, second, last] = clients();
    expect([first, second]).toEqual(
      expect.arrayContaining([
        { ...dataset, caller: "nobody", agent: "x", count: 2, first: at[0], last: at[2] },
        { ...dataset, caller: "nobody", agent: "", count: 1, first: at[2], last: at[2] },
      ]),
    );
    expect(last).toEqual({ ...dataset, caller: aHash, agent: "x", count: 1, first: at[1], last: at[1] });
    expect(clients()).toHaveLength(3);
  });

  test("ids and names are left out of a path", async () => {
    const { call, clients } = await opened();
    const groups = {
      "/api/v1/json/data/list/tag/x": "/api/v1/json/data/list",
      "/api/v1/data/61/x/y": "/api/v1/data/{id}/x",
      "/api/v1/json/study/OpenML100": "/api/v1/json/study/{id}",
      "/api/v1/json/data/aaaaaaaaaabbbbbbbbbbccccccccccdd": "/api/v1/json/data/{id}",
      "//api/v1//json/": "/api/v1/json",
      "/api_new/v1": "/api/v1",
    };
    await call(Object.keys(groups).map((target) => [target]));
    expect(
      clients()
        .map((row) => row.path)
        .toSorted(),
    ).toEqual(Object.values(groups).toSorted());
  });

  test("a deprecated path is listed as a whole, and one can list what lies below a path", async () => {
    const { call, clients, port } = await opened({ DEPRECATED: [datasets] });
    for (const target of ["/d/61", "/v1/nothing", "/v1/datasets/x"]) await send(port, get(target));
    await call([[path], ["/api/v1/json/data/list/limit/5"], ["/api/v1/xml/study/1"], ["/api/v1/xml/study/2"]]);
    const rows = (below?: string) =>
      clients(below)
        .map((row) => `${row.path} ${row.count}`)
        .toSorted();
    expect(rows()).toEqual(["/api/v1/json/data 2", "/api/v1/xml/study/{id} 2"]);
    expect(rows("/api/v1/json/data")).toEqual(["/api/v1/json/data 2"]);
    expect(rows("/api/v1/xml/")).toEqual(["/api/v1/xml/study/{id} 2"]);
    expect([rows("/api/v1/js"), rows("").length, rows("/").length]).toEqual([[], 2, 2]);
  });

  test("a key is the same caller in any case, by query and by the form of a write", async () => {
    const { call, clients, port } = await opened();
    const body = `api_key=${key}&data_id=61&tag=a`;
    const form = ["Content-Type: application/x-www-form-urlencoded", `Content-Length: ${body.length}`];
    await call([[`/api/v1/json/data/tag?api_key=${key}`], [`/api/v1/json/data/tag?API.key=${key.toUpperCase()}`]]);
    await send(port, request("POST /api/v1/json/data/tag", ...form), body);
    await until(() => clients()[0]?.count === 3);
    expect(clients()).toMatchObject([{ caller: aHash, path: "/api/v1/json/data/tag" }]);
    expect(JSON.stringify(clients())).not.toContain(key.slice(0, 6));
  });

  test("a key in the form of a POST counts its caller, whatever it asks for", async () => {
    const { clients, port } = await opened();
    const body = `api_key=${key}`;
    const form = ["Content-Type: application/x-www-form-urlencoded", `Content-Length: ${body.length}`];
    for (const target of ["data/61", "data/list/limit/5", "evaluation/list/run/1", "run"])
      await send(port, request(`POST /api/v1/${target}`, ...form), body);
    await until(() => clients().length === 4);
    expect(clients().map(({ caller }) => caller)).toEqual([aHash, aHash, aHash, aHash]);
  });

  test("a refused key, an empty one and one in a header, unread by legacy, count as none", async () => {
    const { call, clients } = await opened();
    await call([
      [path, `X-API-Key: ${key}`],
      [path, `Authorization: Bearer ${key}`],
    ]);
    await call([[`${path}?api_key=wrong`], [`${path}?api_key=`]]);
    expect(clients()).toMatchObject([{ caller: "nobody", count: 4 }]);
  });

  test("a brown-out counts the keys that legacy has accepted before", async () => {
    const time = stoppedAt("2026-11-21T11:00:00Z");
    const { call, clients } = await opened({ BROWNOUTS: [window] });
    await call([[`${path}?api_key=${key}`]]);
    time.set("2026-11-21T12:30:00Z");
    await call([[`${path}?api_key=${key}`], [`${path}?api_key=${other}`]]);
    expect(clients().map(({ caller, count }) => [caller === "nobody", count])).toEqual(
      expect.arrayContaining([
        [false, 2],
        [true, 1],
      ]),
    );
  });
});

describe("invented keys, agents and paths push no caller with a key off the list", () => {
  test.each([
    ["user agents, without a key", (i: number) => [path, `User-Agent: junk ${i}`], 500],
    ["keys", (i: number) => [`${path}?api_key=invented${i}`, `User-Agent: junk ${i}`], 500],
    ["user agents, with its own key", (i: number) => [`${path}?api_key=${other}`, `User-Agent: junk ${i}`], 20],
  ] as const)("%s", async (_, invented, most) => {
    const { call, clients } = await opened();
    await call([[`${path}?api_key=${key}`, "User-Agent: old"]]);
    await call(Array.from({ length: 600 }, (_unused, i) => invented(i) as [string, string]));
    expect(clients()).toHaveLength(most + 1);
    expect(clients().at(-1)).toMatchObject({ agent: "old", caller: aHash, count: 1 });
  });
});

test("with good keys the list has 1500 entries: the longest silent are forgotten", async () => {
  const { call, clients } = await opened();
  const keyed = (i: number): [string] => [`${path}?api_key=${key.replace("a1", "a2").slice(0, -3)}${100 + i}`];
  await call(Array.from({ length: 800 }, (_, i) => keyed(i)));
  await call(Array.from({ length: 800 }, (_, i) => [`/api/v1/json/study/1?${keyed(i)[0].split("?")[1]}`]));
  expect(clients()).toHaveLength(1500);
  expect(clients().filter((client) => client.path === "/api/v1/json/study/{id}")).toHaveLength(800);
});

test.each([
  ["python-requests/2.32", "python-requests/2.32"],
  ["a\tbd\x9fe", "abde"],
  [`tool ${key.toUpperCase()}/1`, "tool (not shown)/1"],
  ["x".repeat(300), "x".repeat(200)],
])("the user agent %j is shown as %j", async (agent, shown) => {
  const { clients, port } = await opened();
  await send(port, Buffer.from(get(path, `User-Agent: ${agent}`), "latin1"));
  await until(() => clients().length === 1);
  expect(clients()[0]?.agent).toBe(shown);
});

test("whatever the target and the agent are, nothing fails and no key is shown", async () => {
  const { port, clients, observer } = await opened({ DEPRECATED: [datasets] });
  const odd = fc.stringMatching(/^[!-"$-~]{0,60}$/);
  const agent = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,250}$/);
  await fc.assert(
    fc.asyncProperty(odd, odd, agent, async (below, query, name) => {
      const target = `/api/v1/${below}?${query}&api_key=${key}`;
      const { head } = await send(port, Buffer.from(get(target, `User-Agent: ${name}${key}`), "latin1"));
      expect(head).toMatch(/^HTTP\/1\.1 (200|400|412) /);
    }),
    { numRuns: 60 },
  );
  expect(JSON.stringify([clients(), observer.counts()])).not.toContain(key.slice(0, 8));
  for (const client of clients()) expect(client.path).toMatch(/^\/api\/v1(\/([A-Za-z][A-Za-z_.-]{0,23}|\{id\})){0,3}$/);
  expect(clients().length).toBeGreaterThan(1);
});

describe("over a restart", () => {
  test("callers keep their hashes, and are counted on; another gateway's hashes differ", async () => {
    const DATA_DIR = temporaryFolder();
    const requests = [[`${path}?api_key=${key}`], ["/api/v1/json/study/1"]] as [string][];
    const first = await opened({ DATA_DIR });
    await first.call(requests);
    const before = first.clients();
    await first.stop();
    const second = await opened({ DATA_DIR });
    expect(second.clients()).toEqual(before);
    await second.call(requests);
    const named = (clients: typeof before) =>
      clients.map(({ caller, path: used, count }) => `${caller} ${used} ${count}`);
    expect(named(second.clients()).toSorted()).toEqual(
      named(before)
        .map((line) => line.replace(/1$/, "2"))
        .toSorted(),
    );
    const elsewhere = await opened();
    await elsewhere.call(requests);
    const hashes = [second, elsewhere].map(
      ({ clients }) => clients().find(({ caller }) => caller !== "nobody")?.caller,
    );
    expect(hashes[0]).not.toBe(hashes[1]);
  });
});

describeWithRedis("on one Redis", () => {
  test("two gateways give a key the same hash, and count together", async () => {
    const { url } = await startRedis();
    const request1 = [[`${path}?api_key=${key}`]] as [string][];
    const first = await opened({ REDIS_URL: url });
    await first.call(request1);
    await first.stop();
    const second = await opened({ REDIS_URL: url });
    await until(() => second.clients().length === 1);
    await second.call(request1);
    await second.stop();
    const third = await opened({ REDIS_URL: url });
    await until(() => third.clients()[0]?.count === 2);
    expect(third.clients()).toHaveLength(1);
  });
});
