import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { keyOf } from "../../../src/features/retirement/keyOf.ts";
import { plainAgent } from "../../../src/features/retirement/plainAgent.ts";
import { openUsage } from "../../../src/features/retirement/usage.ts";
import { get, request, send } from "../../proxy/support.ts";
import { datasets, gatewayOver } from "./support.ts";
import { until } from "../../support/waiting.ts";
import { anyText } from "../../support/anyText.ts";

const key = "0123456789abcdef0123456789abcdef";
const form = { "content-type": "application/x-www-form-urlencoded" };
const parts = { "content-type": "multipart/form-data; boundary=x" };
const part = (name: string, value: string) => `--x\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`;

describe("the key of a request", () => {
  test.each<[string, Record<string, string>, string | undefined, string | undefined]>([
    ["/?api_key=K1", {}, undefined, "k1"],
    ["/?a=b&API_Key=K1&api_key=K2", {}, undefined, "k2"],
    ["/?api.key=K1", {}, undefined, "k1"],
    ["/?api%5fkey=K1", {}, undefined, "k1"],
    ["/?+api+key=K1+", {}, undefined, "k1"],
    ["/?api[key=K1", {}, undefined, "k1"],
    ["/?api_key[]=K1", {}, undefined, "k1"],
    ["/?api_key%00x=K1", {}, undefined, "k1"],
    ["/?api_key=", {}, undefined, undefined],
    ["/?api_key=0", {}, undefined, undefined],
    ["/?my_api_key=K1&api_keys=K2", {}, undefined, undefined],
    ["/#?api_key=K1", {}, undefined, undefined],
    ["/", { authorization: "Bearer K1" }, undefined, "k1"],
    ["/", { authorization: "Basic K1" }, undefined, undefined],
    ["/", { "x-api-key": " K1 " }, undefined, "k1"],
    ["/?api_key=K1", { "x-api-key": "K2" }, "api_key=K3", "k1"],
    ["/", form, "data_id=1&api_key=K1", "k1"],
    ["/", form, undefined, undefined],
    ["/", { ...form, "x-api-key": "K2" }, "api_key=K1", "k1"],
    ["/", {}, "api_key=K1", undefined],
    ["/", parts, `${part('"data_id"', "1")}${part('"api_key"', "K1")}--x--`, "k1"],
    ["/", parts, part("api_key", "K1"), "k1"],
    ["/", parts, part('"description"', "api_key"), undefined],
  ])("%s %j %j: %s", (target, headers, body, expected) => {
    expect(keyOf({ target, headers, body })).toBe(expected);
  });
});

describe("the user agent", () => {
  test.each([
    [undefined, ""],
    ["python-requests/2.32", "python-requests/2.32"],
    ["a\tb\x00c\x7fd\x9fe", "abcde"],
    [`tool ${key}`, "tool (not shown)"],
    [`tool ${key.toUpperCase()}/1`, "tool (not shown)/1"],
    ["tool SECRET1", "tool (not shown)"],
    ["x".repeat(300), "x".repeat(200)],
  ])("%j", (agent, shown) => {
    expect(plainAgent(agent, "secret1")).toBe(shown);
  });

  test("any agent is shown short, without control characters or parts of a key", () => {
    const around = anyText({ maxLength: 250 });
    fc.assert(
      fc.property(around, around, fc.stringMatching(/^[0-9a-z]{8,40}$/), (before, after, secret) => {
        const shown = plainAgent(before + secret.toUpperCase() + after, secret);
        expect(shown.length).toBeLessThanOrEqual(200);
        expect(shown).not.toMatch(/\p{Cc}/u);
        expect(shown.toLowerCase()).not.toContain(secret);
        fc.pre(!before.toLowerCase().includes(secret.slice(0, 6)) && !after.toLowerCase().includes(secret.slice(0, 6)));
        expect(shown.toLowerCase()).not.toContain(secret.slice(0, 6));
      }),
    );
  });
});

describe("who calls what", () => {
  let now = 0;
  beforeEach(() => void (now = Date.parse("2026-11-21T12:00:00Z")));
  const seen = (agent: string, by?: string) => ({
    headers: { "user-agent": agent, ...(by === undefined ? {} : { "x-api-key": by }) },
    target: "/",
  });

  test("callers differ by key, agent and path; the latest comes first", () => {
    const { note, list } = openUsage(() => now);
    note("/a", seen("x"));
    now += 1000;
    note("/a", seen("x", key));
    note("/b", seen("x"));
    now += 1000;
    note("/a", seen("x"));
    note("/a", seen("y"));
    const hash = expect.stringMatching(/^[\w-]{12}$/) as unknown;
    const [at0, at1, at2] = [0, 1, 2].map((second) => `2026-11-21T12:00:0${second}.000Z`);
    expect(list().slice(0, 2)).toEqual(
      expect.arrayContaining([
        { caller: "nobody", agent: "x", path: "/a", count: 2, first: at0, last: at2 },
        { caller: "nobody", agent: "y", path: "/a", count: 1, first: at2, last: at2 },
      ]),
    );
    expect(list().slice(2)).toEqual(
      expect.arrayContaining([
        { caller: hash, agent: "x", path: "/a", count: 1, first: at1, last: at1 },
        { caller: "nobody", agent: "x", path: "/b", count: 1, first: at1, last: at1 },
      ]),
    );
    expect(list()).toHaveLength(4);
  });

  test("a key in any case is one caller with one hash, which differs by gateway", () => {
    const [here, there] = [openUsage(() => now), openUsage(() => now)];
    for (const { note } of [here, there]) {
      note("/a", seen(key, key));
      note("/a", seen(key, key.toUpperCase()));
    }
    expect([here.list().length, here.list()[0]?.count]).toEqual([1, 2]);
    expect(here.list()[0]?.caller).not.toBe(there.list()[0]?.caller);
    expect(JSON.stringify(here.list())).not.toContain(key.slice(0, 6));
  });

  test.each([
    { title: "without a key", most: 500, by: undefined },
    { title: "with one", most: 1500, by: key },
  ])("callers $title are bounded: the longest silent are forgotten", ({ most, by }) => {
    const { note, list } = openUsage(() => now++);
    for (let i = 0; i < 2500; i++) {
      note("/a", seen("stays", by));
      note("/a", seen(`agent ${i}`, by));
    }
    expect(list().map((one) => one.agent)).toEqual([
      "agent 2499",
      "stays",
      ...Array.from({ length: most - 2 }, (_, i) => `agent ${2498 - i}`),
    ]);
    expect(list()[1]?.count).toBe(2500);
  });

  test("invented user agents push no caller with a key off the list", () => {
    const { note, list } = openUsage(() => now++);
    note("/a", seen("old", key));
    for (let i = 0; i < 3000; i++) note("/a", seen(`agent ${i}`));
    expect(list()).toHaveLength(501);
    expect(list().at(-1)).toMatchObject({ agent: "old", count: 1 });
  });
});

describe("over the whole gateway", () => {
  test("proxied requests are listed by their deprecated path, if any", async () => {
    const { port, oldClients } = await gatewayOver({ DEPRECATED: [datasets] });
    for (const target of ["/api/v1/json/data/1", "/api/v1/json/data/list/limit/5", "//api/v1/json//data/x"])
      await send(port, get(target, "User-Agent: a"));
    for (const target of ["/api/v1/xml/study/1", "/api/v1/xml/study/2", "/d/61", "/v1/nothing", "/v1/datasets/x"])
      await send(port, get(target, "User-Agent: a"));
    const rows = oldClients.clients().map(({ path, count }) => `${path} ${count}`);
    expect(rows.toSorted()).toEqual(["/api/v1/json/data 3", "/api/v1/xml/study/{id} 2"]);
    const below = (path: string) => oldClients.clients(path).map((one) => one.path);
    expect(below("/api/v1/json/data")).toEqual(["/api/v1/json/data"]);
    expect(below("/api/v1/xml/")).toEqual(["/api/v1/xml/study/{id}"]);
    expect([below("/api/v1/js"), below("").length, below("/").length]).toEqual([[], 2, 2]);
  });

  test("a key is the same caller by query, header and the form of a write", async () => {
    const { port, oldClients } = await gatewayOver({ DEPRECATED: [datasets] });
    const body = `api_key=${key}&data_id=61&tag=a`;
    await send(port, get(`/api/v1/json/data/1?api_key=${key}`, "User-Agent: a"));
    await send(port, get("/api/v1/json/data/1", `X-API-Key: ${key.toUpperCase()}`, "User-Agent: a"));
    await send(
      port,
      request(
        "POST /api/v1/json/data/tag",
        "User-Agent: a",
        "Content-Type: application/x-www-form-urlencoded",
        `Content-Length: ${body.length}`,
      ),
      body,
    );
    await until(() => oldClients.clients()[0]?.count === 3);
    expect(oldClients.clients()).toMatchObject([{ caller: expect.stringMatching(/^[\w-]{12}$/) as string, count: 3 }]);
    await send(port, request("DELETE /api/v1/json/data/61", "User-Agent: a"));
    expect(oldClients.clients()[0]).toMatchObject({ caller: "nobody", count: 1 });
  });

  test("whatever the target and the agent are, nothing fails and no key is told", async () => {
    const { port, oldClients, observer } = await gatewayOver({ DEPRECATED: [datasets] });
    const odd = fc.stringMatching(/^[!-"$-~]{0,60}$/);
    const agent = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,250}$/);
    await fc.assert(
      fc.asyncProperty(odd, odd, agent, async (path, query, name) => {
        const target = `/api/v1/${path}?${query}&api_key=${key}`;
        const { head } = await send(port, Buffer.from(get(target, `User-Agent: ${name}${key}`), "latin1"));
        expect(head).toMatch(/^HTTP\/1\.1 (200|400) /);
      }),
      { numRuns: 60 },
    );
    expect(JSON.stringify([oldClients.clients(), observer.counts()])).not.toContain(key.slice(0, 8));
    expect(oldClients.clients().length).toBeGreaterThan(1);
  });
});
