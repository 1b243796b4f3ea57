import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { completeDataset } from "../../../src/tools/sampleLegacy/completeDataset.ts";
import { fronted, over } from "./fronted.ts";
import { administrator, nobody, owner, secondAdministrator } from "./people.ts";
import { edited, through } from "./through.ts";
import { until } from "../../support/waiting.ts";

/** So many rows, every third or so of them private. */
const many = (count: number, every = 3) =>
  Array.from({ length: count }, (_, i) =>
    completeDataset({
      id: i + 1,
      name: `set_${i}`,
      uploader: owner.user.id,
      visibility: i % every === 0 ? "private" : "public",
      description: "x".repeat(200),
    }),
  );
const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

/** What legacy was asked with this key since the last time, without the key. */
const asker = (front: Awaited<ReturnType<typeof fronted>>) => () =>
  front.seen
    .splice(0)
    .filter((target) => target.includes(administrator.key))
    .map((target) => target.replace(/^GET \/api\/v1\/|\?.*$/g, ""));

const WHOLE = "json/data/list/status/all/limit/1000000/offset/0";
const PROBE = "json/evaluation/request/1/normal/1/none/0";

describe("an administrator's list asks legacy", () => {
  test("two things the first time, and for each later page of it the rows of that page", async () => {
    const front = await fronted(many(30));
    const { walked, list } = await over(front);
    await walked();
    const asked = asker(front);
    asked();
    expect((await list(administrator, "status/all/limit/10")).ids).toEqual(ids(10));
    expect(asked()).toEqual([PROBE, WHOLE]);
    expect((await list(administrator, "status/all/limit/4/offset/10")).ids).toEqual([11, 12, 13, 14]);
    expect(asked()).toEqual(["json/data/list/status/all/data_id/11,12,14/limit/3/offset/0"]);
    // This one is private.
    expect((await list(administrator, "status/all/limit/1/offset/12")).ids).toEqual([13]);
    expect((await list(administrator, "status/all/limit/9/offset/30")).ids).toBe(404);
    expect(asked()).toEqual([]);
    // Another question.
    expect((await list(administrator, "status/active/limit/2")).ids).toEqual([1, 2]);
    expect(asked()).toEqual([WHOLE.replace("all", "active")]);
  });

  test("for everything again where the client says so, or nothing is cached", async () => {
    const front = await fronted(many(30));
    const { walked, list, url } = await over(front);
    await walked();
    await list(administrator, "status/all/limit/10");
    const asked = asker(front);
    asked();
    const headers = { "X-API-Key": administrator.key, "Cache-Control": "no-cache" };
    await fetch(`${url}/v1/data/list/status/all/limit/4/offset/10`, { headers });
    expect(asked()).toEqual([WHOLE]);
    const other = await over(front, { CACHE_BYTES: "0" });
    await other.walked();
    asked();
    for (const offset of [0, 10])
      expect((await other.list(administrator, `status/all/limit/10/offset/${offset}`)).ids).toHaveLength(10);
    expect(asked()).toEqual([PROBE, WHOLE, WHOLE]);
  });

  test("for everything again where a row of the page is listed no more", async () => {
    const front = await fronted(many(30));
    const { walked, list } = await over(front);
    await walked();
    await list(administrator, "status/all/limit/10");
    // Past the gateway.
    front.bed.datasets.splice(10, 1);
    const asked = asker(front);
    asked();
    expect((await list(administrator, "status/all/limit/4/offset/10")).ids).toEqual([12, 13, 14, 15]);
    expect((await list(administrator, "status/all/limit/2/offset/14")).ids).toEqual([16, 17]);
    expect(asked()).toEqual([
      "json/data/list/status/all/data_id/11,12,14/limit/3/offset/0",
      WHOLE,
      "json/data/list/status/all/data_id/17/limit/1/offset/0",
    ]);
  });

  test("once for all who want the same at the same time, and for two whole lists at once", async () => {
    const front = await fronted(many(30));
    const { walked, list } = await over(front, { TOTAL_TIMEOUT_MS: "3000" });
    await walked();
    await list(administrator, "status/all/limit/1");
    const held: ServerResponse[] = [];
    front.instead = (target, response) => target.includes("/data/list/") && held.push(response) > 0;
    const lists = [1, 2, 3].flatMap((id) => [1, 2].map(() => list(administrator, `data_id/${id},4/limit/7`)));
    await until(() => held.length === 2);
    await sleep(200);
    expect(held).toHaveLength(2);
    const statuses = (await Promise.all(lists)).map(({ ids: status }) => status);
    // Legacy gives no answer, or there was no turn in time.
    for (const status of statuses) expect([503, 504]).toContain(status);
  });
});

describe("a list that legacy cannot give at once", () => {
  test("is asked for by ids, and still has every row once", async () => {
    const front = await fronted(many(1100, 100));
    const { walked, list } = await over(front);
    await walked();
    const asked = asker(front);
    asked();
    // As legacy does when memory or time runs out.
    front.instead = (target, response) => {
      const isWhole = target.includes("limit/1000000");
      if (isWhole) response.writeHead(500).end();
      return isWhole;
    };
    const listed = await list(administrator, "status/all/limit/10000");
    expect(listed).toMatchObject({ ids: ids(1100), isIncomplete: false });
    // All that are known and a thousand more, by 500.
    expect(asked()).toHaveLength(1 + 1 + 5);
    expect((await list(administrator, "status/all/data_id/5,4,3/limit/2")).ids).toEqual([3, 4]);
  });

  test("is an error where legacy answers neither, and never lacks rows", async () => {
    const front = await fronted();
    const { walked, list } = await over(front);
    await walked();
    front.instead = (target, response) => {
      const isList = target.includes("/data/list") && target.includes(administrator.key);
      if (isList) response.writeHead(500).end();
      return isList;
    };
    expect(await list(administrator)).toMatchObject({ ids: 502, isIncomplete: false });
    expect((await list(nobody)).ids).toEqual([2, 9]);
  });

  test("is asked for by ids where it is larger than MAX_REPLY_BYTES", async () => {
    const { walked, list, observer } = await through(many(900, 100), { MAX_REPLY_BYTES: "120000" });
    await walked();
    expect(await list(administrator, "status/all/limit/10000")).toMatchObject({ ids: ids(900), isIncomplete: false });
    expect(observer.counts()).toMatchObject({ "legacy_failed listDatasets": 1 });
  });
});

describe("a row that turned public and private again", () => {
  const whole = { ids: [2, 3, 5, 6, 9], isIncomplete: false };
  const row = (bed: { datasets: { id: number }[] }, id: number) => bed.datasets.find((one) => one.id === id) ?? {};

  test("is listed all along where it turns private through the gateway", async () => {
    const { walked, list, bed, legacy } = await through();
    await walked();
    Object.assign(row(bed, 3), { visibility: "public" });
    expect(await list(administrator)).toMatchObject(whole);
    await legacy(owner, "json/data/edit", edited(3, "<oml:visibility>private</oml:visibility>"));
    expect(await list(administrator)).toMatchObject(whole);
    expect(await list(administrator, "status/all/limit/50")).toMatchObject(whole);
  });

  test.each([{ isKnown: true }, { isKnown: false }])(
    "is listed all along where it does so past the gateway: %j",
    async ({ isKnown }) => {
      const { walked, list, bed, state, get } = await through();
      await walked();
      Object.assign(row(bed, 3), { visibility: "public" });
      if (isKnown) {
        await get(nobody, 3);
        await until(() => state()?.rows === 2);
      }
      expect(await list(administrator, "status/all/limit/50")).toMatchObject(whole);
      Object.assign(row(bed, 3), { visibility: "private" });
      expect(await list(administrator, "status/all/limit/51")).toMatchObject(whole);
      expect(await list(secondAdministrator, "status/all/limit/52")).toMatchObject(whole);
      expect(state()?.rows).toBe(3);
    },
  );

  test("is listed where it was the only private one", async () => {
    const rows = [completeDataset({ id: 3, name: "kept", uploader: owner.user.id, visibility: "private" })];
    const { walked, list, bed, state, get } = await through(rows);
    await walked();
    Object.assign(row(bed, 3), { visibility: "public" });
    await get(nobody, 3);
    await until(() => state()?.rows === 0);
    Object.assign(row(bed, 3), { visibility: "private" });
    expect(await list(administrator)).toMatchObject({ ids: [3], isIncomplete: false });
  });

  test("is looked for no more when it is deleted", async () => {
    const { walked, list, bed, state, get } = await through();
    await walked();
    Object.assign(row(bed, 3), { visibility: "public" });
    await get(nobody, 3);
    await until(() => state()?.rows === 2);
    bed.datasets.splice(
      bed.datasets.findIndex(({ id }) => id === 3),
      1,
    );
    await list(administrator, "status/all/limit/50");
    const { calls } = state() ?? {};
    expect(await list(administrator, "status/all/limit/51")).toMatchObject({ ids: [2, 5, 6, 9], isIncomplete: false });
    expect(state()?.calls).toBe(calls);
  });
});

test("a row that turns private while a list is read is in it all the same", async () => {
  const front = await fronted();
  const { walked, list, legacy } = await over(front);
  await walked();
  let edits = 0;
  front.instead = (target) => {
    // Legacy has listed it before the list is written out, and is asked for it a second time.
    if (target.includes("limit/1000000") && edits++ === 0)
      void legacy(owner, "json/data/edit", edited(9, "<oml:visibility>private</oml:visibility>"));
    return false;
  };
  for (const limit of [50, 51, 52])
    expect(await list(administrator, `status/all/limit/${limit}`)).toMatchObject({ ids: [2, 3, 5, 6, 9] });
  expect(edits).toBeGreaterThan(0);
});
