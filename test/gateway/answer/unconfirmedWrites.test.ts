import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { idOfKey } from "../../../src/operation/telemetry/requestCaller.ts";
import { MAX_UNCONFIRMED, openUnconfirmedWrites } from "../../../src/gateway/answer/unconfirmedWrites.ts";
import { settled, until } from "../../support/waiting.ts";
import { fakeLegacy } from "../../support/fakeLegacy.ts";
import { alice, cachedGateway, filledGateway, kept } from "../cache/support.ts";

const urlencoded = { "Content-Type": "application/x-www-form-urlencoded" };
const tagForm = (key?: string) => `data_id=61&tag=a${key === undefined ? "" : `&api_key=${key}`}`;
const legacyTag = "/api/v1/json/data/tag";

/** Sends bytes and leaves. */
const leaveAfter = async ({ port, clients }: Awaited<ReturnType<typeof cachedGateway>>, text: string) => {
  await until(async () => (await clients()) === 0);
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(text);
  await until(async () => (await clients()) === 1);
  await settled();
  socket.destroy();
  await until(async () => (await clients()) === 0);
  await settled();
};

describe("proxied requests that invalidate nothing", () => {
  test.each([
    ["without a key", ""],
    ["with a key", `?api_key=${alice}`],
  ])("an unfinished body invalidates nothing, %s", async (_, query) => {
    const gateway = await filledGateway();
    const { ask, as, invalidated, legacy } = gateway;
    await ask("/v1/datasets/abc", as(alice));
    for (const type of ["data", "data/tag", "study/99/attach"])
      await leaveAfter(gateway, `POST /api/v1/json/${type}${query} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx`);
    expect(await invalidated()).toEqual([]);
    // Later answers may be cached.
    expect((await ask("/v1/datasets/63")).how).toMatch(/stored/);
    legacy.trouble = "down";
    expect(await invalidated()).toEqual([]);
  });

  test("a lost write without a key, or with an invented one, invalidates nothing", async () => {
    const { ask, legacy, invalidated } = await filledGateway();
    legacy.trouble = "down";
    for (const key of [undefined, "0", "c".repeat(32), "no key!"])
      expect((await ask(legacyTag, urlencoded, { method: "POST", body: tagForm(key) })).status).toBeGreaterThan(500);
    legacy.trouble = undefined;
    await settled();
    expect(await invalidated()).toEqual([]);
    expect((await ask("/v1/datasets/63")).how).toMatch(/stored/);
  });

  test("a write with an error, or without session and key, invalidates nothing", async () => {
    const { ask, invalidated, legacy } = await filledGateway();
    const post = (headers: Record<string, string>) => ask(legacyTag, headers, { method: "POST", body: "x" });
    const good = { status: 200, type: "application/json", body: "{}" };
    legacy.toWrites = good;
    await post({});
    await post({ Cookie: "other=1; xci_session=a; ci_session=" });
    for (const page of [
      { status: 412, type: "application/json", body: '{"error":{"code":"472","message":"Unknown"}}' },
      { status: 500, type: "text/html", body: "" },
      { status: 302, type: "text/html", body: "" },
      { status: 200, type: "text/html", body: "<html>" },
    ]) {
      legacy.toWrites = page;
      await post({ Cookie: "a=b; ci_session=abc" });
    }
    expect(await invalidated()).toEqual([]);
    legacy.toWrites = good;
    await post({ Cookie: "a=b; ci_session=abc" });
    expect(await invalidated()).toEqual(["getDataset", "listDatasets", "otherDataset"]);
  });
});

describe("a write that cannot have been sent", () => {
  test("a write that cannot have been sent changes nothing: legacy refuses connections", async () => {
    // No other server is at this address: none gets legacy's port once it is closed.
    const { legacy, ask, as, post, invalidated } = await filledGateway({}, await fakeLegacy({ address: "127.0.0.2" }));
    await ask("/v1/datasets/abc", as(alice));
    await legacy.close();
    // A write on a connection whose end the gateway has not seen yet may have been sent.
    await settled();
    for (let i = 0; i < 40; i++) {
      const tagged = await post("/v1/datasets/tag", { data_id: 61, tag: "a" }, as(alice));
      expect(tagged.status).toBeOneOf([502, 503]);
      expect((await ask(legacyTag, urlencoded, { method: "POST", body: tagForm(alice) })).status).toBe(502);
    }
    expect(await invalidated()).toEqual([]);
  });

  test("a write that cannot have been sent changes nothing: too many requests wait", async () => {
    const environment = { MAX_CONNECTIONS: "1" };
    const { legacy, ask, post, as, invalidated } = await filledGateway(environment, undefined, { waiting: 1 });
    await ask("/v1/datasets/abc", as(alice));
    legacy.hold();
    const waiting = [ask("/v1/setup/5"), ask("/v1/setup/6")];
    await settled();
    const { status } = await post("/v1/setup/tag", { setup_id: 3, tag: "a" }, as(alice));
    expect(status).toBe(503);
    legacy.letGo();
    await Promise.all(waiting);
    expect(await invalidated()).toEqual([]);
  });
});

describe("a write whose fate is unknown", () => {
  test.each([
    ["the connection breaks", "down"],
    ["500 without a word", "empty-500"],
    ["a 100 hides the answer", "continuing"],
  ])("a write whose fate is unknown leaves answers to be served in an outage: %s", async (_, trouble) => {
    const { legacy, ask, as, post } = await filledGateway();
    await ask("/v1/datasets/abc", as(alice));
    Object.assign(legacy, { trouble, sparesProbes: trouble !== "down" });
    await post("/v1/setup/tag", { setup_id: 3, tag: "a" }, as(alice));
    await ask(legacyTag, urlencoded, { method: "POST", body: tagForm(alice) });
    for (const path of [kept.getSetup, kept.getDataset, kept.listDatasets])
      expect([path, (await ask(path)).how]).toEqual([path, expect.stringMatching(/stale-if-error/)]);
    expect((await ask(kept.getStudy)).how).toMatch(/^hit/);
  });

  test("a lost write with an unknown key invalidates once legacy has accepted the key", async () => {
    const { legacy, post, as, invalidated } = await filledGateway();
    legacy.trouble = "down";
    expect((await post("/v1/setup/tag", { setup_id: 3, tag: "a" }, as(alice))).status).toBe(502);
    expect(await invalidated()).toEqual([]);
    legacy.trouble = undefined;
    await until(async () => (await invalidated()).join() === "getSetup");
  });
});

describe("writes that wait for the verification of their key", () => {
  const broken = { kind: "broken" as const, message: "" };
  const refused = { kind: "unauthenticated" as const, message: "" };
  type Settings = Parameters<typeof openUnconfirmedWrites>[0];

  /** Unconfirmed writes whose keys legacy answers about so, in turn; the last answer is given again and again. */
  const openWith = (
    answers: readonly (typeof broken | typeof refused | undefined)[],
    { proven, ...settings }: Partial<Settings> & { proven?: string } = {},
  ) => {
    /** The milliseconds that each verification might take. */
    const verified: number[] = [];
    const keys: Settings["keys"] = {
      isProven: (owner) => owner === proven,
      verify({ deadline }) {
        verified.push(deadline - performance.now());
        return Promise.resolve(answers[Math.min(verified.length, answers.length) - 1]);
      },
    };
    const onError = (error: unknown) => expect(error).toBeUndefined();
    const writes = openUnconfirmedWrites({ keys, timeout: 1000, delays: [1, 1], onError, ...settings });
    let invalidated = 0;
    const note = (key = alice) => void writes.note(key, () => void invalidated++);
    const end = () => until(() => writes.waiting() === 0);
    return { ...writes, note, end, verified, invalidated: () => invalidated };
  };

  test.each([
    [[undefined], 1],
    [[broken, undefined], 1],
    [[broken, refused, undefined], 0],
    [[broken, broken, broken, undefined], 0],
  ] as const)("after these answers about the key %j, the write counts: %i", async (answers, expected) => {
    const { note, end, invalidated } = openWith(answers);
    note();
    await end();
    expect(invalidated()).toBe(expected);
  });

  test.each([
    [undefined, 1],
    [refused, 0],
    [broken, 0],
  ] as const)("while legacy fails, the key is verified when it is back: %j", async (last, expected) => {
    const back = Promise.withResolvers<void>();
    let isBack = false;
    const legacyBack = () => (isBack ? undefined : back.promise);
    const { note, end, waiting, verified, invalidated } = openWith([broken, last], { delays: [], legacyBack });
    note();
    await settled();
    expect([waiting(), verified.length]).toEqual([1, 1]);
    isBack = true;
    back.resolve();
    await end();
    expect([invalidated(), verified.length]).toEqual([expected, 2]);
  });

  test("a verification has five seconds, however long an answer may take", async () => {
    const { note, end, verified, invalidated } = openWith([broken], { timeout: 60_000, delays: [1] });
    note();
    await end();
    expect([verified.map((ms) => Math.ceil(ms / 1000)), invalidated()]).toEqual([[5, 5], 0]);
  });

  test("a write that waits for legacy ends with the gateway", async () => {
    const writes = openWith([broken], { legacyBack: () => new Promise(() => undefined) });
    writes.note();
    await settled();
    expect(writes.waiting()).toBe(1);
    writes.close();
    await writes.end();
  });

  test("lost writes that wait are bounded, and end with the gateway", async () => {
    const writes = openWith([broken], { delays: [60_000], proven: idOfKey(alice) });
    for (let i = 0; i < MAX_UNCONFIRMED + 50; i++) writes.note(`k${i}`);
    expect([writes.waiting(), writes.verified.length]).toEqual([MAX_UNCONFIRMED, MAX_UNCONFIRMED]);
    // A key that is known needs no place.
    writes.note(alice);
    expect(writes.invalidated()).toBe(1);
    await settled();
    writes.close();
    await writes.end();
    expect([writes.verified.length, writes.invalidated()]).toEqual([MAX_UNCONFIRMED, 1]);
  });
});
