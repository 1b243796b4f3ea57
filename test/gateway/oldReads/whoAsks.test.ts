import { describe, expect, test, vi } from "vitest";
import { keys } from "../answer/support.ts";
import { clock } from "../cache/support.ts";
import { settled, until } from "../../support/waiting.ts";
import { failingLegacy } from "../failures/support.ts";
import { startSample } from "./sample.ts";
import { alice, becomeDown, caching, cachingOver, documents, error, json, minute } from "./support.ts";

const list = "/api/v1/json/data/list/limit/5";
const emptyKey = "?api_key=";
const session = { Cookie: "ci_session=mine" };
const requests = (count: number) => Array<string>(count).fill(`GET ${json}`);

test("an empty key counts as no key: one entry, which any cache may share", async () => {
  const { legacy, ask } = await caching();
  expect((await ask(json + emptyKey)).how).toMatch(/^fwd=uri-miss; stored/);
  const { how, body, headers } = await ask(json + emptyKey);
  expect([how, body, headers.get("cache-control")]).toEqual([
    expect.stringMatching(/^hit/),
    documents["json"],
    "public, no-cache",
  ]);
  expect((await ask(json)).how).toMatch(/^hit/);
  expect(legacy.asked).toEqual(requests(1));
});

test("an empty key gets the public list, and the public 404", async () => {
  const legacy = await startSample();
  const { ask } = await cachingOver(legacy);
  for (const path of [list, "/api/v1/json/data/99999"]) {
    await ask(path);
    expect((await ask(path + emptyKey)).how).toMatch(/^hit/);
  }
  expect(legacy.seen).toHaveLength(2);
});

describe("a cookie counts as a key that legacy has accepted", () => {
  test("it gets the public answer, and legacy is neither asked about it nor shown it", async () => {
    const { legacy, ask } = await caching();
    for (const Cookie of ["ci_session=mine", "ci_session=other", "a=b"]) {
      const { status, body, headers } = await ask(json, { Cookie });
      expect([status, body, headers.get("cache-control")]).toEqual([200, documents["json"], "private, no-cache"]);
      expect([headers.get("set-cookie"), headers.get("vary")]).toEqual([null, expect.stringContaining("Cookie")]);
    }
    expect((await ask(json)).how).toMatch(/^hit/);
    expect(legacy.asked).toEqual(requests(1));
    expect(legacy.seen[0]?.headers.cookie).toBeUndefined();
  });

  test("beside a key it does not count: legacy decides about the key", async () => {
    const { legacy, ask } = await caching();
    await ask(json);
    expect((await ask(`${json}?api_key=${"c".repeat(32)}`, session)).status).toBe(412);
    expect((await ask(`${json}?api_key=${alice}`, session)).how).toMatch(/^hit/);
    expect(legacy.seen.at(-1)?.headers.cookie).toBeUndefined();
  });

  test("a list that may show more passes; the public list is fetched for an outage", async () => {
    const legacy = await startSample();
    const { ask, core } = await cachingOver(legacy);
    const passed = await ask(list + emptyKey, session);
    expect([passed.how, passed.headers.get("set-cookie")]).toEqual(["passed", expect.stringMatching(/ci_session/)]);
    await until(() => core.cache.size().entries === 1);
    expect(legacy.seen.map(({ headers }) => headers.cookie)).toEqual([session.Cookie, undefined]);
    legacy.isDown = true;
    for (let i = 0; i < 4; i++) {
      const { body, headers } = await ask(list + emptyKey, session);
      expect([body, headers.get("cache-control")]).toEqual([passed.body, "private, no-cache"]);
    }
  });

  test.each(["Sec-Fetch-Site", "Origin", "Referer"])("a browser's (%s) passes while legacy is well", async (name) => {
    const { ask } = await caching();
    const browser = { [name]: "https://catalogue.example" };
    await ask(json);
    for (const path of [json, `${json}?api_key=${alice}`])
      expect((await ask(path, { ...browser, ...session })).how).toBe("passed");
    expect((await ask(json, browser)).how).toMatch(/^hit/);
  });
});

test("a client that leaves while the public answer is fetched is not kept in memory", async () => {
  const gateway = await caching();
  const { legacy, ask, core } = gateway;
  const answers = Promise.withResolvers<void>();
  Object.assign(legacy, { error: 112, gate: answers.promise });
  const leaving = new AbortController();
  const left = ask(json, session, { signal: leaving.signal }).catch(() => "left");
  await until(() => legacy.running === 1);
  leaving.abort();
  expect(await left).toBe("left");
  await settled();
  answers.resolve();
  await until(() => legacy.running === 0);
  await settled();
  const lookUp = vi.spyOn(core.cache, "lookUpInTier");
  await becomeDown(gateway);
  // Each of these three reads looks once; the request that has left would look again.
  expect(lookUp).toHaveBeenCalledTimes(3);
});

const withCookie = ["a cookie", "", session] as const;
const withKey = ["a key", `?api_key=${alice}`, {}] as const;

describe.each([withCookie, withKey])("with %s", (_, query, headers) => {
  /** Legacy gave this error without a key: the gateway has stored it, unless the record may be a caller's own. */
  const gatewayWithError = async (code: number, path = json) => {
    const gateway = await caching();
    const { legacy, ask } = gateway;
    await ask(`/api/v1/json/data/7${query}`, headers);
    legacy.error = code;
    await ask(path);
    legacy.asked.length = 0;
    return { ...gateway, mine: () => ask(path + query, headers) };
  };
  test("a record that the public may not see passes at once for a minute", async () => {
    const { pass } = clock();
    const { legacy, mine } = await gatewayWithError(112);
    const asked = async (): Promise<number> => {
      legacy.asked.length = 0;
      expect(await mine()).toMatchObject({ how: "passed", body: error(112) });
      // The clock of remembered keys is read once in a millisecond.
      await settled();
      return legacy.asked.filter((line) => line.startsWith(`GET ${json}`)).length;
    };
    expect([await asked(), await asked()]).toEqual([2, 1]);
    pass(59_000);
    expect(await asked()).toBe(1);
    pass(2 * minute);
    expect(await asked()).toBe(2);
  });

  test.each([
    ["page-502", 1],
    // A dropped request is sent once more.
    ["dropped", 2],
  ])("a failure (%s) is sent to all; a record that may be the caller's own is not denied", async (form, times) => {
    const legacy = await failingLegacy([61]);
    const { ask } = await cachingOver(legacy);
    // A key that the sample legacy knows.
    const mine = () => ask(json + query.replace(alice, keys.user), headers);
    Object.assign(legacy, { form, isProbeWell: true });
    expect((await mine()).status).toBe(502);
    expect(legacy.asked.filter((line) => line.includes("/data/61"))).toEqual(requests(times));
    legacy.recover();
    expect([(await mine()).how, (await mine()).how]).toEqual([
      expect.stringContaining("stored"),
      expect.stringMatching(/^hit/),
    ]);
  });

  test("it lasts as long as without a key", async () => {
    const { pass } = clock();
    const gateway = await gatewayWithError(372, list);
    await becomeDown(gateway);
    expect((await gateway.mine()).body).toBe(error(372));
    pass(minute);
    expect((await gateway.mine()).body).toContain('"107"');
  });
});
