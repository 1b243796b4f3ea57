import { describe, expect, test } from "vitest";
import { completeDataset } from "../../../src/tools/sampleLegacy/completeDataset.ts";
import { administrator, nobody, owner, secondAdministrator } from "./people.ts";
import { edited, through } from "./through.ts";
import { until } from "../../support/waiting.ts";

const complete = (ids: number[] | number) => ({ ids, isIncomplete: false });

describe("a write by legacy's own interface shows in the next list", () => {
  test("a dataset that turns private, and public again", async () => {
    const { walked, list, legacy } = await through();
    await walked();
    expect((await legacy(owner, "json/data/edit", edited(2, "<oml:visibility>private</oml:visibility>"))).status).toBe(
      200,
    );
    expect(await list(administrator)).toMatchObject(complete([2, 3, 5, 6, 9]));
    expect(await list(nobody)).toMatchObject(complete([9]));
    await legacy(owner, "data/edit", edited(2, "<oml:visibility>public</oml:visibility>"));
    await legacy(owner, "data/edit", edited(3, "<oml:visibility>public</oml:visibility>"));
    expect(await list(administrator)).toMatchObject(complete([2, 3, 5, 6, 9]));
    expect(await list(nobody)).toMatchObject(complete([2, 3, 9]));
  });

  test("a private dataset that is deleted", async () => {
    const { walked, list, legacy, state } = await through();
    await walked();
    expect((await list(administrator)).ids).toEqual([2, 3, 5, 6, 9]);
    expect((await legacy(owner, "json/data/3", undefined, "DELETE")).status).toBe(200);
    expect(await list(administrator)).toMatchObject(complete([2, 5, 6, 9]));
    expect(state()?.rows).toBe(2);
  });

  test.each(["json/data", "data"])("a private dataset that is uploaded by %s", async (path) => {
    const { walked, list, legacy } = await through();
    await walked();
    const description = `<oml:data_set_description xmlns:oml="http://openml.org/openml"><oml:name>brand_new</oml:name><oml:description>New.</oml:description><oml:format>ARFF</oml:format><oml:visibility>private</oml:visibility></oml:data_set_description>`;
    const { status, text } = await legacy(owner, path, { description });
    expect(status).toBe(200);
    const id = Number(/\d+/.exec(text.replace(/^.*?id/s, ""))?.[0]);
    expect(await list(administrator, "data_name/brand_new/status/all")).toMatchObject(complete([id]));
    expect(await list(nobody, "data_name/brand_new/status/all")).toMatchObject(complete(404));
  });

  test.each(["identity", "gzip"])("whatever the client's coding: %s", async (coding) => {
    const { walked, list, url } = await through();
    await walked();
    const description = `<oml:data_set_description xmlns:oml="http://openml.org/openml"><oml:name>zipped</oml:name><oml:description>New.</oml:description><oml:format>ARFF</oml:format><oml:visibility>private</oml:visibility></oml:data_set_description>`;
    const answer = await fetch(`${url}/api/v1/data?api_key=${owner.key}`, {
      method: "POST",
      headers: { "Accept-Encoding": coding },
      body: new URLSearchParams({ description }),
    });
    expect(answer.status).toBe(200);
    const { ids } = await list(administrator, "data_name/zipped/status/all");
    expect(ids).toEqual([Number(/\d+/.exec((await answer.text()).replace(/^.*?id/s, ""))?.[0])]);
  });

  test("an edit that is larger than what is looked at of it", async () => {
    const { walked, list, legacy } = await through();
    await walked();
    const long = `<oml:visibility>private</oml:visibility><oml:description>${"x".repeat(100_000)}</oml:description>`;
    expect((await legacy(owner, "json/data/edit", edited(2, long))).status).toBe(200);
    expect(await list(administrator)).toMatchObject(complete([2, 3, 5, 6, 9]));
  });

  test("another status", async () => {
    const { walked, list, legacy } = await through();
    await walked();
    expect((await list(administrator, "status/deactivated")).ids).toBe(404);
    await legacy(owner, "json/data/status/update", { data_id: "3", status: "deactivated" });
    expect(await list(administrator, "status/deactivated")).toMatchObject(complete([3]));
    expect(await list(administrator)).toMatchObject(complete([2, 3, 5, 6, 9]));
    expect(await list(administrator, "status/active")).toMatchObject(complete([2, 5, 6, 9]));
  });

  test("a tag, by either interface", async () => {
    const { walked, list, legacy, url } = await through();
    await walked();
    expect((await list(administrator, "tag/mine")).ids).toBe(404);
    await legacy(owner, "json/data/tag", { data_id: "3", tag: "mine" });
    expect(await list(administrator, "tag/MINE")).toMatchObject(complete([3]));
    const change = (action: string) =>
      fetch(`${url}/v1/datasets/${action}`, {
        method: "POST",
        headers: { "X-API-Key": owner.key, "Content-Type": "application/json" },
        body: JSON.stringify({ data_id: 3, tag: "mine" }),
      });
    expect((await change("untag")).status).toBe(200);
    expect(await list(administrator, "tag/mine")).toMatchObject(complete(404));
    expect((await change("tag")).status).toBe(200);
    expect(await list(administrator, "tag/mine")).toMatchObject(complete([3]));
  });
});

describe("a change that bypasses the gateway", () => {
  test.each<[string, "legacy" | "v1"]>([
    ["read through legacy's interface", "legacy"],
    ["read by the new one", "v1"],
  ])("shows when a dataset is %s: turned private, deleted, turned public", async (_, by) => {
    const { walked, list, bed, get, legacy } = await through();
    await walked();
    const look = async (id: number) =>
      void (by === "v1" ? await get(nobody, id) : await legacy(nobody, `json/data/${id}`));
    const row = (id: number) => bed.datasets.find((one) => one.id === id);
    Object.assign(row(9) ?? {}, { visibility: "private" });
    await look(9);
    expect(await list(administrator, "status/all/limit/50")).toMatchObject(complete([2, 3, 5, 6, 9]));
    Object.assign(row(5) ?? {}, { visibility: "public" });
    await look(5);
    expect(await list(administrator, "status/all/limit/51")).toMatchObject(complete([2, 3, 5, 6, 9]));
    expect(await list(nobody, "status/all/limit/51")).toMatchObject(complete([2, 5]));
    bed.datasets.splice(0, 2);
    await look(3);
    expect((await list(administrator, "status/all/limit/52")).ids).toEqual([5, 6, 9]);
  });

  test("shows with the next walk at the latest", async () => {
    const { walked, list, bed, state } = await through(undefined, {}, { walk: { pause: 20 } });
    await walked();
    const known = () => state()?.rows;
    Object.assign(bed.datasets.find(({ id }) => id === 9) ?? {}, { visibility: "private" });
    await until(() => known() === 4);
    bed.datasets.push(completeDataset({ id: 19, name: "newest", visibility: "private", uploader: owner.user.id }));
    await until(() => known() === 5);
    expect(await list(administrator, "status/all/limit/50")).toMatchObject(complete([2, 3, 5, 6, 9, 19]));
    bed.datasets.splice(0, 3);
    await until(() => known() === 3);
    expect(await list(administrator, "status/all/limit/51")).toMatchObject(complete([6, 9, 19]));
  });

  test("makes no page repeat a row: the list itself shows a row that turned public", async () => {
    const { walked, list, bed } = await through();
    await walked();
    expect((await list(administrator)).ids).toEqual([2, 3, 5, 6, 9]);
    Object.assign(bed.datasets.find(({ id }) => id === 5) ?? {}, { visibility: "public" });
    expect((await list(administrator, "status/all/limit/50")).ids).toEqual([2, 3, 5, 6, 9]);
    expect(await list(administrator, "status/all/limit/2")).toMatchObject(complete([2, 3]));
    expect(await list(administrator, "status/all/limit/2/offset/2")).toMatchObject(complete([5, 6]));
    expect(await list(secondAdministrator, "status/all/limit/51")).toMatchObject(complete([2, 3, 5, 6, 9]));
  });

  test("shifts no page, from whichever end they are read", async () => {
    const { walked, list, bed } = await through();
    await walked();
    // What the list shows them is remembered from here on.
    await list(administrator);
    Object.assign(bed.datasets.find(({ id }) => id === 3) ?? {}, { visibility: "public" });
    const pages = [];
    for (let offset = 5; offset >= 0; offset--)
      pages.push((await list(administrator, `status/all/limit/1/offset/${offset}`)).ids);
    expect(pages).toEqual([404, [9], [6], [5], [3], [2]]);
  });

  test("is found by any caller's list", async () => {
    const { walked, list, bed, state } = await through();
    await walked();
    Object.assign(bed.datasets.find(({ id }) => id === 3) ?? {}, { visibility: "public" });
    expect((await list(nobody)).ids).toEqual([2, 3, 9]);
    await until(() => state()?.rows === 2);
  });
});
