import { idOfKey } from "../../../src/operation/telemetry/requestCaller.ts";
import { hasFeatures } from "../../support/hasFeatures.ts";
import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { sampleCatalogue } from "../../../tools/sampleLegacy/catalogue.ts";
import { clock } from "../cache/support.ts";
import { isProbeOfLegacy } from "../http/support.ts";
import { httpUpstream } from "../proxy/support.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { pageOfMetrics } from "../../support/metrics.ts";
import { settled, until } from "../../support/waiting.ts";
import { failingLegacy } from "../failures/support.ts";
import { alice, becomeDown, caching, cachingOver, json, mallory, minute } from "./support.ts";

const list = "/api/v1/json/data/list/limit/5";
const key = sampleCatalogue.users[0]?.key;
const keyed = `${list}?api_key=${key}`;

const rows =
  '{"data":{"dataset":[{"did":1,"name":"a","version":1,"status":"active","format":"arff","file_id":1,"quality":[]}]}}';

describe("a list with a key", () => {
  test("passes as it came, head and body, while legacy is well", async () => {
    const { ask } = await cachingOver(await failingLegacy([1]));
    await ask(list);
    const shown = await ask(keyed);
    expect([shown.status, shown.how]).toEqual([200, "passed"]);
    expect(shown.headers.get("set-cookie")).toMatch(/session/);
    expect(shown.headers.get("age")).toBeNull();
  });

  test("waits while the probe is under way", async () => {
    const asked: string[] = [];
    const probe = Promise.withResolvers<void>();
    let isIll = false;
    const url = await httpUpstream((request, response) => {
      asked.push(request.url ?? "");
      const ill = () => void response.writeHead(502, { "Content-Type": "text/html" }).end("<html></html>");
      if (isProbeOfLegacy(request)) return void probe.promise.then(ill);
      if (isIll) return ill();
      return response.writeHead(200, { "Content-Type": "application/json" }).end(rows);
    });
    const { ask, core } = await cachingOver({ url });
    await ask(list);
    isIll = true;
    for (let i = 0; i < 3; i++) await ask(`/api/v1/json/data/${i + 1}`);
    expect(core.outage.isInDoubt()).toBe(true);
    const before = asked.length;
    const waiting = ask(`${list}?api_key=${alice}`);
    await settled();
    expect(asked.slice(before).filter((target) => target.includes(alice))).toEqual([]);
    probe.resolve();
    expect((await waiting).body).toBe(rows);
    expect(asked.filter((target) => target.startsWith(`${list}?`))).toEqual([]);
  });

  describe("that waits for legacy when the outage is noticed", () => {
    /** A gateway whose legacy freezes while two lists are under way; the times are the test's. */
    const frozen = async () => {
      const { pass } = clock(["setTimeout", "clearTimeout"]);
      const asked: string[] = [];
      let isFrozen = false;
      const unanswered: ServerResponse[] = [];
      const answer = (response: ServerResponse) =>
        response.writeHead(200, { "Content-Type": "application/json" }).end(rows);
      const url = await httpUpstream((request, response) => {
        asked.push(request.url ?? "");
        if (isFrozen) unanswered.push(response);
        else answer(response);
      });
      const gateway = await cachingOver({ url }, { MAX_CONNECTIONS: "1" });
      onTestFinished(() => {
        isFrozen = false;
        unanswered.forEach((response) => void response.end());
      });
      const freeze = async () => {
        isFrozen = true;
        const first = gateway.ask(`${list}?api_key=${alice}`);
        await until(() => unanswered.length === 1);
        pass(1000);
        // The other waits for the only connection.
        const second = gateway.ask(`${list}?api_key=${mallory}`);
        await until(() => gateway.core.load() === 2);
        pass(4000);
        await until(() => unanswered.length === 2);
        pass(4999);
        expect(gateway.core.outage.isOn()).toBe(false);
        pass(1);
        await until(() => gateway.core.outage.isOn());
        return [first, second] as const;
      };
      return { ...gateway, asked, freeze, unanswered, answer };
    };

    test("is the public list at once, and its request is given up", async () => {
      const { ask, freeze, asked, unanswered, core } = await frozen();
      await ask(list);
      for (const shown of await Promise.all(await freeze())) {
        expect([shown.status, shown.body, shown.headers.get("cache-control")]).toEqual([
          200,
          rows,
          "private, no-cache",
        ]);
        expect(shown.how).toMatch(/stale-if-error/);
      }
      await until(() => unanswered.every(({ destroyed }) => destroyed));
      expect(asked.filter((target) => target.includes(mallory))).toEqual([]);
      const page = await pageOfMetrics(core.meter);
      expect(page).toContain('catalog_gateway_old_reads_total{result="stale_if_error"} 2');
      expect(page).toContain('catalog_gateway_old_reads_total{result="passed"} 0');
      expect(page).not.toMatch(/catalog_gateway_pass_through_failures_total\{.*\} [1-9]/);
    });

    test("waits on where nothing is stored", async () => {
      const { freeze, unanswered, answer } = await frozen();
      const [first] = await freeze();
      answer(unanswered[0] as ServerResponse);
      expect(await first).toMatchObject({ status: 200, body: rows, how: "passed" });
    });
  });

  test("tells whether legacy knows the key", async () => {
    const { ask, core } = await cachingOver(await failingLegacy([1]));
    const known = (given = "") => core.keys.isProven(idOfKey(given));
    expect((await ask(`${list}?api_key=${mallory}`)).status).toBe(412);
    expect([known(key), known(mallory)]).toEqual([false, false]);
    await ask(keyed);
    expect(known(key)).toBe(true);
  });
});

test("a refused key stays refused while legacy fails, until it is accepted", async () => {
  const { legacy, ask, core } = await cachingOver(await failingLegacy([1]));
  const wrongKey = `${list}?api_key=${mallory}`;
  const { body } = await ask(list);
  const refusal = await ask(wrongKey);
  expect([refusal.status, refusal.body]).toEqual([412, expect.stringContaining("103")]);
  legacy.form = "page-403";
  expect((await ask(wrongKey)).body).toBe(refusal.body);
  core.keys.accepted(mallory);
  expect((await ask(wrongKey)).body).toBe(body);
});

test("a key is remembered as refused for an hour", async () => {
  const { pass } = clock();
  const { ask, core } = await cachingOver(await failingLegacy([1]));
  await ask(`${list}?api_key=${mallory}`);
  const wasRefused = () => core.keys.wasRefused(idOfKey(mallory));
  pass(59 * minute);
  expect(wasRefused()).toBe(true);
  // The keys' clock is read once in a millisecond.
  await settled();
  pass(2 * minute);
  expect(wasRefused()).toBe(false);
});

test("while the check of a key is late, one that was accepted within the hour counts", async () => {
  const { pass } = clock();
  const { legacy, ask } = await caching({ HEADERS_TIMEOUT_MS: "4000" });
  const keyedRecord = `${json}?api_key=${alice}`;
  await ask(keyedRecord);
  pass(5 * minute);
  legacy.mode = "silent";
  expect((await ask(keyedRecord)).how).toMatch(/^hit/);
});

test("a key that was not checked gets the public record once legacy is known to fail", async () => {
  const { pass } = clock(["setTimeout", "clearTimeout"]);
  const { legacy, ask, core } = await caching();
  const { body } = await ask(json);
  legacy.mode = "silent";
  const first = ask(`${json}?api_key=${alice}`);
  await until(() => legacy.running === 1);
  // It passes without the key's check, which has the gateway probe legacy.
  pass(2000);
  await until(() => legacy.running === 2);
  pass(3000);
  await until(() => legacy.running === 3);
  pass(4000);
  const second = ask(`${json}?api_key=${mallory}`);
  await until(() => legacy.running === 4);
  pass(1000);
  await until(() => core.outage.isOn());
  expect(await first).toMatchObject({ status: 200, body, how: expect.stringContaining("stale-if-error") });
  // Legacy is known to fail before this one's check is late.
  pass(1000);
  expect(await second).toMatchObject({ status: 200, body, how: expect.stringMatching(/^hit/) });
  // The checks are over.
  pass(minute);
});

test.runIf(hasFeatures)("a made-up key that gets an answer in an outage is not listed as a caller", async () => {
  const gateway = await caching();
  const { ask, see } = gateway;
  await ask(`${json}?api_key=${alice}`);
  await becomeDown(gateway);
  for (const caller of [alice, mallory]) expect((await ask(`${json}?api_key=${caller}`)).status).toBe(200);
  const clients = (await (await see("/clients")).json()) as { caller: string; count: number }[];
  const counts = clients.map(({ caller, count }) => [caller === "nobody", count]);
  expect(counts.toSorted(([, a], [, b]) => Number(a) - Number(b))).toEqual([
    [false, 2],
    [true, 4],
  ]);
});

describe("the public list is fetched for clients that always send a key", () => {
  /** `fetched`: the number of requests to legacy for the list without a key. */
  const counting = async () => {
    const gateway = await cachingOver(await failingLegacy([1]));
    return { ...gateway, fetched: () => gateway.legacy.asked.filter((line) => line === `GET ${list}`).length };
  };

  test("once an hour", async () => {
    const { pass } = clock();
    const { ask, fetched } = await counting();
    await ask(keyed);
    await until(() => fetched() === 1);
    for (let i = 0; i < 3; i++) await ask(keyed);
    pass(59 * minute);
    await ask(keyed);
    await settled();
    expect(fetched()).toBe(1);
    pass(minute);
    await ask(keyed);
    await until(() => fetched() === 2);
  });

  test("not where the key was refused, or half of the connections are in use", async () => {
    const { ask, core, fetched } = await counting();
    await ask(`${list}?api_key=${mallory}`);
    vi.spyOn(core, "load").mockReturnValue(0.5);
    await ask(keyed);
    await settled();
    expect(fetched()).toBe(0);
  });
});

describeWithRedis("with a second gateway", () => {
  test("an answer that only Redis has is served in place of an ill one", async () => {
    const redis = await startRedis();
    const legacy = await failingLegacy([1]);
    const [first, second] = await Promise.all([1, 2].map(() => cachingOver(legacy, { REDIS_URL: redis.url })));
    // Answers that are fetched earlier are not shared.
    await until(() => [first, second].every((gateway) => gateway?.core.cache.sharing() === "in step"));
    await until(async () => (await first?.ask(list))?.how.startsWith("hit") === true);
    const { body } = (await first?.ask(list)) ?? {};
    legacy.form = "page-502";
    expect(body).toContain('"did"');
    await until(async () => (await second?.ask(keyed))?.body === body);
  });
});
