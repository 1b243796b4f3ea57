import { describe, expect, test } from "vitest";
import { clock } from "../cache/support.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { casesOf } from "../../support/cases.ts";
import { pageOfMetrics } from "../../support/metrics.ts";
import { until } from "../../support/waiting.ts";
import { failingLegacy } from "../failures/support.ts";
import { samplePaths, startSample } from "./sample.ts";
import { caching, cachingOver, json, minute } from "./support.ts";

const behindProxy = { TRUSTED_PROXIES: "127.0.0.1" };
const from = (client: number) => ({ "X-Forwarded-For": `192.0.2.${client}` });
const other = (id: number) => `/api/v1/json/data/${id}`;
const day = 24 * 60 * minute;

test("each 5xx that the gateway makes is an event, and counts as a failure", async () => {
  const { legacy, ask, core } = await caching();
  const failures = () => core.observer.counts()["legacy_failed getDataset"];
  await ask(json);
  expect(failures()).toBeUndefined();
  legacy.mode = "down";
  for (let i = 0; i < 3; i++) expect((await ask(other(i))).status).toBe(502);
  expect(failures()).toBe(3);
  await until(() => core.outage.isOn());
  await core.outage.settled();
  // One request a second still tries legacy.
  const statuses = [await ask(other(7)), await ask(other(8))].map(({ status }) => status);
  expect([statuses.at(-1), failures()]).toEqual([503, 5]);
  const page = await pageOfMetrics(core.meter);
  expect(page).toContain("catalog_gateway_old_reads_failed_total 5");
  expect(page).toContain('catalog_gateway_old_reads_duration_seconds_count{backend="legacy"} 6');
  expect(page).toContain('catalog_gateway_old_reads_duration_seconds_count{backend="gateway"} 0');
});

/** Paths that are asked when legacy is back. */
const PATHS = casesOf(20);

test(`${PATHS} stale paths reach a legacy that is back once each, over MAX_CONNECTIONS`, async () => {
  const { pass } = clock(["setTimeout", "clearTimeout"]);
  const { legacy, ask, core } = await caching({ ...behindProxy, MAX_CONNECTIONS: "4" });
  const paths = Array.from({ length: PATHS }, (_, i) => other(i + 1));
  const inTurn = <T>(each: (path: string, at: number) => Promise<T>) =>
    Array.fromAsync(
      paths.keys().filter((at) => at % 200 === 0),
      (first) => Promise.all(paths.slice(first, first + 200).map((path, at) => each(path, first + at))),
    );
  await inTurn((path) => ask(path));
  pass(day);
  legacy.mode = "down";
  for (let i = 0; i < 20; i++) expect((await ask(other(i + 1), from(i))).how).toContain("stale-if-error");
  await until(() => core.meter.openCircuits().includes("legacy"));
  legacy.mode = "healthy";
  // The clock stands still while the probe is under way.
  pass(1000);
  await until(() => core.meter.openCircuits().length === 0);
  pass(minute);
  Object.assign(legacy, { asked: [], most: 0 });
  const release = Promise.withResolvers<void>();
  legacy.gate = release.promise;
  const answers = inTurn(async (path, at) => {
    const both = [ask(path), ask(path)];
    // The first of them are held until no more reach legacy.
    if (at === 0) void until(() => legacy.running === 4).then(release.resolve);
    return Promise.all(both);
  });
  for (const { how } of (await answers).flat(2)) expect(how).toMatch(/^(fwd=stale; (stored|collapsed)|hit)/);
  const asked = paths.map((path) => `GET ${path}`);
  expect([legacy.asked.toSorted(), legacy.most]).toEqual([asked.toSorted(), 4]);
});

test("while legacy fails, old clients get no page in place of an answer", async () => {
  const { ask, core, legacy } = await cachingOver(await failingLegacy([]));
  legacy.form = "page-200";
  for (let i = 0; i < 3; i++) expect((await ask(other(i))).body).toContain("<html");
  await until(() => core.outage.isOn());
  // The request that is sent each second.
  const { status, body } = await ask(other(9));
  expect(legacy.asked).toContain(`GET ${other(9)}`);
  expect([status, JSON.parse(body)]).toMatchObject([503, { error: { code: "107" } }]);
});

/** Asks a gateway for the body at each path of the sample; returns the bodies of stored answers. */
const bodiesOf = async (bodyAt: BodyAt) => {
  const bodies = new Map<string, string>();
  for (const { path } of samplePaths()) {
    const { status, how, body } = await bodyAt(path);
    if (status === 200 && how.includes("stored") && !/exists[":> ]+false/.test(body)) bodies.set(path, body);
  }
  const named = samplePaths().flatMap(({ name, path }) => (bodies.has(path) ? [name] : []));
  expect(new Set(named)).toEqual(new Set(samplePaths().map(({ name }) => name)));
  return bodies;
};
type BodyAt = Awaited<ReturnType<typeof caching>>["ask"];

describe("a day of outage", () => {
  test("reads of the day before are answered", async () => {
    const { pass } = clock();
    const legacy = await startSample();
    const { ask } = await cachingOver(legacy);
    const bodies = await bodiesOf(ask);
    pass(day);
    legacy.isDown = true;
    pass(day);
    for (const [path, body] of bodies) expect(await ask(path)).toMatchObject({ status: 200, body });
  });
});

describeWithRedis("a day of outage, with Redis", () => {
  test("a gateway that starts in it answers another gateway's reads of the day before", async () => {
    const redis = await startRedis();
    // Redis answers in time, however busy the machine is.
    const { pass } = clock(["setTimeout", "clearTimeout"]);
    const legacy = await startSample();
    const open = async () => {
      const gateway = await cachingOver(legacy, { REDIS_URL: redis.url });
      await until(() => {
        pass(10);
        return gateway.core.cache.sharing() === "in step";
      });
      return gateway;
    };
    const before = await open();
    const bodies = await bodiesOf(before.ask);
    // The keys in Redis would not show it: Redis removes answers of 404 after some seconds of its own clock.
    const stored = /shared_tier_calls_total\{call="set",result="stored"\} (\d+)/;
    const { entries } = before.core.cache.size();
    await until(async () => Number(stored.exec(await pageOfMetrics(before.core.meter))?.[1]) === entries);
    // The time that passes cuts it off from Redis: it would trust no entry any more.
    await before.core.cache.close();
    pass(day);
    legacy.isDown = true;
    pass(day);
    const { ask } = await open();
    for (const [path, body] of bodies) expect(await ask(path)).toMatchObject({ status: 200, body });
  });
});
