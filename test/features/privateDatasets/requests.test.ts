import { describe, expect, test } from "vitest";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { administrator, nobody, owner } from "./people.ts";
import { fronted, edited, through } from "./through.ts";
import { until } from "../../support/waiting.ts";

/** `count` rows, every third of them private. */
const many = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    completeDataset({
      id: i + 1,
      name: `set_${i}`,
      uploader: owner.user.id,
      visibility: i % 3 === 0 ? "private" : "public",
    }),
  );
const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

/** The requests to legacy with this key since the last call, without the key. */
const asker = (front: Awaited<ReturnType<typeof fronted>>) => () =>
  front.seen
    .splice(0)
    .filter((target) => target.includes(administrator.key))
    .map((target) => target.replace(/^GET \/api\/v1\/|\?.*$/g, ""));

const WHOLE = "json/data/list/status/all/limit/1000000/offset/0";
const PROBE = "json/evaluation/request/1/normal/1/none/0";

describe("requests to legacy for an administrator's list", () => {
  test("an administrator's list sends legacy two requests, and its later pages none", async () => {
    const front = await fronted(many(30));
    const { list } = await through(front);
    const asked = asker(front);
    asked();
    expect((await list(administrator, "status/all/limit/10")).ids).toEqual(ids(10));
    expect(asked()).toEqual([PROBE, WHOLE]);
    expect((await list(administrator, "status/all/limit/4/offset/10")).ids).toEqual([11, 12, 13, 14]);
    // This dataset is private.
    expect((await list(administrator, "status/all/limit/1/offset/12")).ids).toEqual([13]);
    expect((await list(administrator, "status/all/limit/9/offset/30")).ids).toBe(404);
    expect(asked()).toEqual([]);
    // Another question.
    expect((await list(administrator, "status/active/limit/2")).ids).toEqual([1, 2]);
    expect(asked()).toEqual([WHOLE.replace("all", "active")]);
  });

  test("an administrator's list is fetched again for no-cache, and without a cache", async () => {
    const front = await fronted(many(30));
    const { list, url } = await through(front);
    await list(administrator, "status/all/limit/10");
    const asked = asker(front);
    asked();
    const headers = { "X-API-Key": administrator.key, "Cache-Control": "no-cache" };
    await fetch(`${url}/v1/data/list/status/all/limit/4/offset/10`, { headers });
    expect(asked()).toEqual([WHOLE]);
    const other = await through(front, { CACHE_BYTES: "0" });
    asked();
    for (const offset of [0, 10])
      expect((await other.list(administrator, `status/all/limit/10/offset/${offset}`)).ids).toHaveLength(10);
    expect(asked()).toEqual([PROBE, WHOLE, WHOLE]);
  });
});

describe("a whole list that legacy cannot give", () => {
  test("an administrator gets legacy's page, marked, if the whole list fails", async () => {
    const front = await fronted();
    const { list } = await through(front);
    // As legacy does when memory or time runs out.
    front.replace(/limit\/1000000/, 500);
    expect(await list(administrator, "status/all/limit/3")).toMatchObject({ ids: [2, 6, 9], isIncomplete: true });
    expect(await list(owner)).toMatchObject({ ids: [2, 3, 9], isIncomplete: false });
  });

  test("an administrator gets an error if legacy gives neither list nor page", async () => {
    const front = await fronted();
    const { list } = await through(front);
    front.replace(new RegExp(`/data/list.*${administrator.key}`), 500);
    expect(await list(administrator)).toMatchObject({ ids: 502, isIncomplete: false });
    expect((await list(nobody)).ids).toEqual([2, 9]);
  });
});

describe("a row that turned public and private again", () => {
  const whole = { ids: [2, 3, 5, 6, 9], isIncomplete: false };
  const row = (bed: { datasets: { id: number }[] }, at: number) => bed.datasets.find(({ id }) => id === at) ?? {};

  test("a row that turns private through the gateway is listed all along", async () => {
    const { list, bed, legacy } = await through();
    Object.assign(row(bed, 3), { visibility: "public" });
    expect(await list(administrator)).toMatchObject(whole);
    await legacy(owner, "json/data/edit", edited(3, "<oml:visibility>private</oml:visibility>"));
    expect(await list(administrator)).toMatchObject(whole);
    expect(await list(administrator, "status/all/limit/50")).toMatchObject(whole);
  });

  test("a row that a scan found public is listed or marked as missing", async () => {
    const front = await fronted();
    const { list, state } = await through(front, {}, { scan: { pause: 20, retry: 1 } });
    Object.assign(row(front, 3), { visibility: "public" });
    await until(() => state()?.rows === 2);
    front.replace(/xml\/data\/list/);
    await until(() => front.held.length > 0);
    Object.assign(row(front, 3), { visibility: "private" });
    expect(await list(administrator)).toMatchObject({ ids: [2, 5, 6, 9], isIncomplete: true });
    front.release();
    await until(() => state()?.rows === 3);
    await until(async () => !(await list(administrator)).isIncomplete);
    expect(await list(administrator)).toMatchObject(whole);
  });
});

test("a list may lack a row that a scan finds private during the request, and says so", async () => {
  const front = await fronted();
  const { list, state } = await through(front, {}, { scan: { pause: 20, retry: 1 } });
  front.replace(/limit\/1000000.*api_key/);
  const listing = list(administrator);
  await until(() => front.held.length === 1);
  Object.assign(front.datasets.find(({ id }) => id === 9) ?? {}, { visibility: "private" });
  await until(() => state()?.rows === 4);
  const answer = await fetch(`${front.legacyUrl}/api/v1/${WHOLE}?api_key=${administrator.key}`);
  front.held.pop()?.end(await answer.text());
  expect(await listing).toMatchObject({ ids: [2, 3, 5, 6], isIncomplete: true });
  front.instead = undefined;
  expect(await list(administrator)).toMatchObject({ ids: [2, 3, 5, 6, 9], isIncomplete: false });
});

test("a row that turns private while a list is read is still in the list", async () => {
  const front = await fronted();
  const { list, legacy } = await through(front);
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
