import { cpSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { check } from "../../../tools/check.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { alice, clock, markOf } from "../../gateway/cache/support.ts";
import { minute } from "../../gateway/oldReads/support.ts";
import { fakeLegacy } from "../../support/fakeLegacy.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { settled } from "../../support/waiting.ts";
import { type DiskGateway, gatewayOn, restart } from "./support.ts";

const hour = 60 * minute;
const day = 24 * hour;
/** A record that may turn private, and one that may not, by both interfaces; and a list. */
const paths = {
  ours: "/v1/datasets/777",
  old: "/api/v1/json/data/61",
  ourPublic: "/v1/setup/3",
  oldPublic: "/api/v1/json/setup/3",
  list: "/v1/data/list/limit/5",
};
const oldList = "/api/v1/json/data/list/limit/5";
const each = Object.values(paths);
const withKey = { "X-API-Key": alice };

const askAll = ({ ask }: Pick<DiskGateway, "ask">) => Array.fromAsync(each, (path) => ask(path));
/** The caller and version of each answer, "none" for an error. */
const marksFrom = async (gateway: DiskGateway) => (await askAll(gateway)).map(({ body }) => markOf(body));

/** A legacy, a gateway on a disk, and the clock of both. */
const opened = async () => {
  const { pass } = clock(["setTimeout", "clearTimeout"]);
  const legacy = await fakeLegacy();
  const gateway = await gatewayOn(legacy);
  const tag = () =>
    gateway.ask(
      `/api/v1/json/data/tag?api_key=${alice}`,
      {},
      { method: "POST", body: new URLSearchParams({ data_id: "777", tag: "a" }) },
    );
  const purge = async (what: object) => {
    const body = JSON.stringify(what);
    const { status } = await gateway.see("/purge", {
      method: "POST",
      body,
      headers: { "Content-Type": "application/json" },
    });
    expect(status).toBe(200);
  };
  /** All files of its disk, as a kill at this moment leaves them: a gateway that starts on them. */
  const startOnCopy = () => {
    const [DATA_DIR, directory] = [temporaryFolder(), gateway.given.DATA_DIR];
    for (const name of readdirSync(directory).filter((file) => file.includes("-cache.sqlite")))
      cpSync(join(directory, name), join(DATA_DIR, name));
    return gatewayOn(legacy, { DATA_DIR });
  };
  return { pass, legacy, gateway, tag, purge, startOnCopy };
};

describe("an answer that memory has evicted", () => {
  test("is a hit from the disk, byte for byte, and legacy gets no request", async () => {
    const { legacy, gateway } = await opened();
    const { ask, evict, calls } = gateway;
    const before = await askAll(gateway);
    await evict();
    const { length } = legacy.asked;
    for (const [i, path] of each.entries()) {
      const again = await ask(path);
      expect(again).toMatchObject({ status: 200, body: before[i]?.body, how: expect.stringMatching(/^hit; ttl=\d+$/) });
      expect(again.headers.get("etag")).toBe(before[i]?.headers.get("etag"));
    }
    expect([legacy.asked.length, await calls("get", "hit")]).toEqual([length, each.length]);
  });

  test("is a hit also if it is a 404, but only without a key", async () => {
    const { legacy, gateway } = await opened();
    legacy.gone = true;
    await gateway.ask(paths.ours);
    await gateway.evict();
    legacy.gone = false;
    expect(await gateway.ask(paths.ours)).toMatchObject({ status: 404, how: expect.stringMatching(/^hit/) });
    await gateway.evict();
    expect((await gateway.ask(paths.ours, withKey)).status).toBe(200);
  });

  test("is served while it is revalidated, and later if legacy fails", async () => {
    const { pass, legacy, gateway } = await opened();
    const { ask, evict } = gateway;
    await ask(paths.ours);
    pass(20 * minute);
    await evict();
    legacy.version = 2;
    expect(await ask(paths.ours)).toMatchObject({ how: expect.stringContaining("stale-while-revalidate") });
    await settled();
    expect(markOf((await ask(paths.ours)).body)).toBe("nobody 2");
    pass(2 * hour);
    await evict();
    legacy.trouble = "down";
    const { body, how } = await ask(paths.ours);
    expect([markOf(body), how]).toEqual(["nobody 2", expect.stringContaining("stale-if-error")]);
  });

  test("is not on the disk if it was fetched with a key", async () => {
    const { legacy, gateway } = await opened();
    const { ask, evict, entries, given } = gateway;
    legacy.privateTo = alice;
    expect(markOf((await ask(paths.ours, withKey)).body)).toBe("alice 1");
    legacy.privateTo = undefined;
    await evict();
    const { length } = legacy.asked;
    await ask(paths.ours, withKey);
    expect(legacy.asked.slice(length)).toContain("GET /data/777 as alice");
    expect(await entries()).toBeGreaterThan(0);
    for (const name of readdirSync(given.DATA_DIR))
      expect(readFileSync(join(given.DATA_DIR, name)).includes("alice")).toBe(false);
  });
});

describe("after a restart", () => {
  test("legacy is asked first, and its answer wins, and is a hit from then on", async () => {
    const { legacy, gateway } = await opened();
    await askAll(gateway);
    const second = await restart(gateway);
    legacy.version = 2;
    expect(await marksFrom(second)).toEqual(each.map(() => "nobody 2"));
    for (const prepare of [() => undefined, second.evict]) {
      await prepare();
      for (const { how } of await askAll(second)) expect(how).toMatch(/^hit/);
    }
  });

  test("an answer of less than an hour is served if legacy fails, after each start", async () => {
    const { pass, legacy, gateway } = await opened();
    const bodies = (await askAll(gateway)).map(({ body }) => body);
    legacy.trouble = "down";
    pass(59 * minute);
    const second = await restart(gateway);
    expect((await askAll(second)).map(({ body }) => body)).toEqual(bodies);
    expect((await askAll(await restart(second))).map(({ body }) => body)).toEqual(bodies);
  });

  test.each([
    ["an hour later", hour, [paths.ourPublic, paths.oldPublic]],
    ["six days later", 6 * day, [paths.ourPublic, paths.oldPublic]],
    ["40 days later", 40 * day, []],
    ["two hours earlier", -2 * hour, []],
  ])("%s, legacy's failure brings what cannot turn private", async (_, ms, expected) => {
    const { legacy, gateway } = await opened();
    await askAll(gateway);
    legacy.trouble = "down";
    vi.setSystemTime(Date.now() + ms);
    const marks = await marksFrom(await restart(gateway));
    expect(each.filter((__, i) => marks[i] !== "none")).toEqual(expected);
  });

  // A key that legacy cannot check is refused by the new interface, as in any outage.
  test.each<[string, number, string, Record<string, string>?]>([
    ["without a key", 200, paths.ours],
    ["without a key, old", 200, paths.old],
    ["with a key, old", 200, `${paths.old}?api_key=${alice}`],
    ["a list with a key, old", 200, `${oldList}?api_key=${alice}`],
    ["with a key", 503, paths.ours, withKey],
  ])("a read waits 5 s at most for a legacy that is frozen: %s (%i)", async (_, expected, path, headers = {}) => {
    const { pass, legacy, gateway } = await opened();
    for (const stored of [paths.ours, paths.old, oldList]) await gateway.ask(stored);
    legacy.trouble = "frozen";
    const { ask } = await restart(gateway);
    const answers: { status: number; body: string }[] = [];
    void ask(path, headers).then((answer) => answers.push(answer));
    for (let waited = 0; waited <= 5500 && answers.length === 0; waited += 500) {
      if (waited > 0) pass(500);
      await settled();
    }
    // Fetches go on in the background, and would hold up the end.
    await legacy.close();
    expect(answers.map(({ status, body }) => [status, markOf(body)])).toEqual([
      [expected, expected === 200 ? "nobody 1" : "none"],
    ]);
  });
});

describe("a write", () => {
  test("takes its answers out of the disk before its own goes out, and leaves lists", async () => {
    const { legacy, gateway, tag, startOnCopy } = await opened();
    await askAll(gateway);
    await gateway.evict();
    await tag();
    const killed = await startOnCopy();
    expect(markOf((await gateway.ask(paths.ours)).body)).toBe("nobody 2");
    legacy.trouble = "down";
    const others = each.slice(1).map(() => "nobody 1");
    expect(await marksFrom(killed)).toEqual(["none", ...others]);
    expect(await marksFrom(gateway)).toEqual(["nobody 2", ...others]);
  });

  test("keeps an answer that was fetched before it from the disk", async () => {
    const { legacy, gateway, tag } = await opened();
    legacy.hold(1);
    const reading = gateway.ask(paths.ours);
    await settled();
    await tag();
    legacy.letGo();
    expect(markOf((await reading).body)).toBe("nobody 1");
    legacy.trouble = "down";
    await gateway.evict();
    expect((await gateway.ask(paths.ours)).status).toBeGreaterThan(500);
  });
});

const soft = "hit; ttl=0; detail=stale-while-revalidate";
describe("a purge", () => {
  test.each([
    ["a group", { group: "dataset/777" }, soft],
    ["a group, hard", { group: "dataset/777", hard: true }, "fwd=uri-miss"],
    ["an endpoint", { endpoint: "getDataset" }, soft],
    ["an endpoint, hard", { endpoint: "getDataset", hard: true }, "fwd=uri-miss"],
    ["all", { all: true }, soft],
    ["all, hard", { all: true, hard: true }, "fwd=uri-miss"],
    ["an address", { url: paths.ours }, "fwd=uri-miss"],
    ["another address", { url: "/v1/datasets/7" }, "hit; ttl"],
    ["another group, hard", { group: "dataset/7", hard: true }, "hit; ttl"],
  ])("of %s counts for the disk as for memory", async (_, what, how) => {
    const { gateway, purge } = await opened();
    await gateway.ask(paths.ours);
    await gateway.evict();
    await purge(what);
    expect((await gateway.ask(paths.ours)).how).toMatch(new RegExp(`^${how}`));
  });
});

test("operators see the disk: by address, in numbers, and after an outage", async () => {
  const { legacy, gateway } = await opened();
  const { ask, evict, see, core } = gateway;
  await ask(paths.ours);
  await evict();
  const stored = (await (await see(`/cache?url=${paths.ours}`)).json()) as object;
  expect(stored).toMatchObject({ answers: [{ endpoint: "getDataset", freshness: "fresh" }] });
  await evict();
  const { disk } = (await (await see("/cache")).json()) as { disk: Record<string, number> };
  expect(disk).toMatchObject({ bound: 64 * 1024 ** 2, entries: await gateway.entries() });
  expect(disk["entries"]).toBeGreaterThan(10);
  expect(disk["bytes"]).toBeGreaterThan(8192);
  legacy.trouble = "down";
  for (let id = 1; id < 4; id++) await ask(`/v1/datasets/${id}`);
  await vi.waitUntil(() => core.outage.isOn());
  expect((await ask(paths.ours)).status).toBe(200);
  const after = (await (await see("/cache")).json()) as { disk: Record<string, number> };
  expect(await (await see("/")).text()).toMatch(/<strong>25 %<\/strong> of the last outage’s requests/);
  expect(after.disk["ofLastOutage"]).toBe(0.25);
});

test("--check says how much of the disk can be used, and opens no file", async () => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const DATA_DIR = temporaryFolder();
  // The cache itself may have taken the room.
  writeFileSync(join(DATA_DIR, "catalog-gateway-cache.sqlite"), "");
  truncateSync(join(DATA_DIR, "catalog-gateway-cache.sqlite"), 2 ** 41);
  const gateway = await gatewayFor(legacy.url, { DATA_DIR, CACHE_DISK_BYTES: `${2 ** 40}` }, { isCheck: true });
  onTestFinished(() => gateway.close());
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const { settings } = gateway.core;
  await check(gateway, { settings, strict: false, print, off: [], parts: gateway.features.checks });
  const can = /^ok .* 1,024 GiB of 1,024 GiB can be used: a tenth of the disk stays free, and at least 1 GiB/;
  expect(lines.filter((line) => line.includes("CACHE_DISK_BYTES"))).toEqual([expect.stringMatching(can)]);
  expect(readdirSync(DATA_DIR).filter((name) => name.includes("cache"))).toHaveLength(1);
});
