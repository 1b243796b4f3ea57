import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { isProbeOfLegacy, listeningGateway } from "../http/support.ts";
import { httpUpstream } from "../proxy/support.ts";
import { alice, cachedGateway, clock, coalesced, markOf } from "./support.ts";
import { settled, until } from "../../support/waiting.ts";

const hour = 3_600_000;
describe("many equal requests at the same time", () => {
  test("legacy gets one request, whose answer is for all", async () => {
    const { legacy, ask, core } = await cachedGateway();
    const release = legacy.hold();
    const all = Array.from({ length: 100 }, (_, i) => ask(i % 2 ? "/v1/datasets/61" : "/v1/datasets/0061/"));
    await until(async () => (await coalesced(core)) === 99);
    release();
    const answers = await Promise.all(all);
    expect(new Set(answers.map(({ status, body }) => `${status} ${markOf(body)}`))).toEqual(new Set(["200 nobody 1"]));
    expect(answers.filter(({ how }) => /^fwd=uri-miss; collapsed; ttl=(600|59\d)$/.test(how))).toHaveLength(99);
    expect(answers.filter(({ how }) => how.includes("stored"))).toHaveLength(1);
    expect(legacy.asked).toHaveLength(1);
  });

  test("a caller that leaves does not end it for the others, nor for later callers", async () => {
    const { legacy, ask } = await cachedGateway();
    const release = legacy.hold();
    const leaving = new AbortController();
    const first = ask("/v1/datasets/61", {}, { signal: leaving.signal });
    const left = first.catch((error: Error) => error.name);
    await until(() => legacy.asked.length === 1);
    const second = ask("/v1/datasets/61");
    await settled();
    leaving.abort();
    expect(await left).toBe("AbortError");
    release();
    expect((await second).status).toBe(200);
    expect((await ask("/v1/datasets/61")).how).toMatch(/^hit/);
    expect(legacy.asked).toHaveLength(1);
  });

  test("a failure goes to all that waited; later requests share one new fetch", async () => {
    const { legacy, ask, core } = await cachedGateway();
    const ofAll = async (count: number) => {
      const before = await coalesced(core);
      const release = legacy.hold();
      const all = Array.from({ length: count }, () => ask("/v1/datasets/61"));
      await until(async () => (await coalesced(core)) === before + count - 1);
      release();
      return new Set((await Promise.all(all)).map(({ status, how }) => `${status} ${how.replace(/ttl=.*/, "ttl")}`));
    };
    legacy.mode = "erroring";
    expect(await ofAll(300)).toEqual(new Set(["502 fwd=uri-miss", "502 fwd=uri-miss; collapsed"]));
    expect(legacy.asked).toHaveLength(1);
    legacy.mode = "healthy";
    expect(await ofAll(20)).toEqual(new Set(["200 fwd=uri-miss; stored; ttl", "200 fwd=uri-miss; collapsed; ttl"]));
    expect(legacy.asked).toHaveLength(2);
  });

  test.each([
    ["serves the others", true, 19],
    ["finds no room either, so that all are refused", false, 0],
  ])("requests that got no room are refused; one more request %s", async (_, hasNextRoom, served) => {
    const answers: ServerResponse[] = [];
    const url = await httpUpstream((incoming, response) => {
      // Its answers wait for longer than the gateway is patient on a busy machine.
      if (isProbeOfLegacy(incoming)) response.end('{"evaluation_measures":{"measures":{"measure":"kappa"}}}');
      else answers.push(response);
    });
    const length = 1024 ** 2;
    const bounds = { MEMORY_BYTES: String(length), MAX_REPLY_BYTES: String(length) };
    const { url: gateway, core } = await listeningGateway(url, bounds);
    const begin = (i: number) => answers[i]?.writeHead(200, { "Content-Length": length }).write("{");
    const large = fetch(`${gateway}/v1/evaluationmeasures/list`);
    await until(() => answers.length === 1);
    begin(0);
    const all = Promise.all(Array.from({ length: 20 }, () => fetch(`${gateway}/v1/datasets/61`)));
    await until(async () => answers.length === 2 && (await coalesced(core)) === 19);
    begin(1);
    await until(() => answers.length === 3);
    const endLarge = async () => {
      answers[0]?.end('"evaluation_measures":{"measures":{"measure":"kappa"}}}'.padEnd(length - 1));
      expect((await large).status).toBe(200);
    };
    if (hasNextRoom) {
      await endLarge();
      answers[2]?.end('{"data_set_description":{"id":"61","name":"a","format":"arff"}}');
    } else begin(2);
    const statuses = (await all).map(({ status }) => status);
    if (!hasNextRoom) await endLarge();
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    expect([count(200), count(503)]).toEqual([served, 20 - served]);
    expect(answers).toHaveLength(3);
  });

  test("a failure that many waited for counts once for the back-off", async () => {
    const { pass } = clock();
    const { legacy, ask, core } = await cachedGateway();
    await ask("/v1/datasets/61");
    pass(48 * hour);
    legacy.mode = "erroring";
    const release = legacy.hold();
    const all = Array.from({ length: 20 }, () => ask("/v1/datasets/61"));
    await until(async () => (await coalesced(core)) === 19);
    release();
    for (const { how } of await Promise.all(all)) expect(how).toMatch(/detail=stale-if-error$/);
    legacy.mode = "healthy";
    pass(1000);
    expect((await ask("/v1/datasets/61")).how).toBe("fwd=stale; stored; ttl=600");
  });

  test("a failure that a caller with a key met counts for the back-off, too", async () => {
    const { pass } = clock();
    const { legacy, ask, as } = await cachedGateway();
    await ask("/v1/datasets/61");
    pass(48 * hour);
    await ask("/v1/setup/3", as(alice));
    legacy.mode = "erroring";
    for (let i = 0; i < 2; i++) expect((await ask("/v1/datasets/61", as(alice))).how).toMatch(/detail=stale-if-error$/);
    const asked = legacy.asked.length;
    await ask("/v1/datasets/61");
    await ask("/v1/datasets/61", as(alice));
    expect(legacy.asked).toHaveLength(asked);
  });

  test("requests that waited for a refusal are sent at once, not one after the other", async () => {
    const { legacy, ask } = await cachedGateway();
    const release = legacy.hold();
    legacy.privateTo = alice;
    const all = Array.from({ length: 20 }, () => ask("/v1/datasets/61"));
    await until(() => legacy.asked.length === 1);
    await settled();
    expect(legacy.asked).toHaveLength(1);
    const releaseAll = legacy.hold();
    release();
    await until(() => legacy.asked.length === 20);
    releaseAll();
    expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([403]));
  });
});

describe("a refresh in the background", () => {
  test("a refresh in the background is made once, however many are served meanwhile", async () => {
    const { pass } = clock();
    const { legacy, ask } = await cachedGateway();
    await ask("/v1/datasets/61");
    pass(hour);
    legacy.version = 2;
    const release = legacy.hold();
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask("/v1/datasets/61")));
    expect(new Set(answers.map(({ body, how }) => `${markOf(body)} ${how}`))).toEqual(
      new Set(["nobody 1 hit; ttl=-3000; detail=stale-while-revalidate"]),
    );
    expect(legacy.asked).toHaveLength(2);
    release();
    await settled();
    expect(markOf((await ask("/v1/datasets/61")).body)).toBe("nobody 2");
    expect(legacy.asked).toHaveLength(2);
  });

  test("a refresh backs off while legacy is down: 1 s, 2 s, 4 s ... 60 s", async () => {
    const { pass } = clock();
    const { legacy, ask } = await cachedGateway();
    await ask("/v1/datasets/61");
    pass(hour);
    legacy.mode = "erroring";
    const expected = [0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];
    const waits: number[] = [];
    let before = legacy.asked.length;
    let waited = 0;
    while (waits.length < 9) {
      await ask("/v1/datasets/61");
      if (waited === expected[waits.length]) await until(() => legacy.asked.length > before);
      await settled();
      if (legacy.asked.length > before) {
        waits.push(waited);
        before = legacy.asked.length;
        waited = 0;
      }
      const step = waits.length < 4 ? 500 : 4000;
      pass(step);
      waited += step;
    }
    expect(waits).toEqual(expected);
    legacy.mode = "healthy";
    pass(60_000);
    await ask("/v1/datasets/61");
    await settled();
    expect((await ask("/v1/datasets/61")).how).toMatch(/^hit; ttl=600/);
  });

  test("the first request waits for a legacy that fails, later requests do not", async () => {
    const { pass } = clock();
    const { legacy, ask } = await cachedGateway();
    await ask("/v1/datasets/61");
    pass(48 * hour);
    legacy.mode = "down";
    for (let i = 0; i < 5; i++) expect((await ask("/v1/datasets/61")).how).toMatch(/detail=stale-if-error$/);
    // A GET whose connection breaks is sent once more.
    expect(legacy.asked).toHaveLength(3);
    legacy.mode = "healthy";
    pass(1000);
    expect((await ask("/v1/datasets/61")).how).toBe("fwd=stale; stored; ttl=600");
  });

  test.each([
    ["403", { privateTo: alice }, 403],
    ["404", { gone: true }, 404],
  ])("a refresh that is answered %s removes the entry, also for a later outage", async (_, change, status) => {
    const { pass } = clock();
    const { legacy, ask } = await cachedGateway();
    await ask("/v1/datasets/61");
    pass(hour);
    Object.assign(legacy, change);
    expect((await ask("/v1/datasets/61")).status).toBe(200);
    await settled();
    expect((await ask("/v1/datasets/61")).status).toBe(status);
    legacy.mode = "down";
    pass(120_000);
    expect((await ask("/v1/datasets/61")).status).toBe(502);
  });
});
