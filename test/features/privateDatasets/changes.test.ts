import { describe, expect, test } from "vitest";
import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { administrator, nobody, owner, secondAdministrator } from "./people.ts";
import { edited, rows, through } from "./through.ts";

const complete = (ids: number[] | number) => ({ ids, isIncomplete: false });
const all = complete([2, 3, 5, 6, 9]);

describe("a write through the gateway shows in the next list", () => {
  test("a dataset that turns private or public is right in the next list", async () => {
    const { list, legacy } = await through();
    // More than the gateway reads of it.
    const long = `<oml:visibility>private</oml:visibility><oml:description>${"x".repeat(100_000)}</oml:description>`;
    expect((await legacy(owner, "json/data/edit", edited(2, long))).status).toBe(200);
    expect(await list(administrator)).toMatchObject(all);
    expect(await list(nobody)).toMatchObject(complete([9]));
    for (const id of [2, 3]) await legacy(owner, "data/edit", edited(id, "<oml:visibility>public</oml:visibility>"));
    expect(await list(administrator)).toMatchObject(all);
    expect(await list(nobody)).toMatchObject(complete([2, 3, 9]));
  });

  test("a deleted dataset is gone from the next list, private or not", async () => {
    const { list, legacy, state } = await through();
    expect(await list(administrator)).toMatchObject(all);
    expect((await legacy(owner, "json/data/3", undefined, "DELETE")).status).toBe(200);
    expect(await list(administrator)).toMatchObject(complete([2, 5, 6, 9]));
    expect(state()?.rows).toBe(2);
    expect((await legacy(owner, "json/data/2", undefined, "DELETE")).status).toBe(200);
    expect(await list(administrator)).toMatchObject(complete([5, 6, 9]));
  });

  test.each([
    ["json/data", "identity"],
    ["data", "identity"],
    ["data", "gzip"],
  ])("an uploaded private dataset is in the next list: by %s, with the coding %s", async (path, coding) => {
    const { list, url } = await through();
    const description = `<oml:data_set_description xmlns:oml="http://openml.org/openml"><oml:name>brand_new</oml:name><oml:description>New.</oml:description><oml:format>ARFF</oml:format><oml:visibility>private</oml:visibility></oml:data_set_description>`;
    const answer = await fetch(`${url}/api/v1/${path}?api_key=${owner.key}`, {
      method: "POST",
      headers: { "Accept-Encoding": coding },
      body: new URLSearchParams({ description }),
    });
    const id = Number(/id"?[:>]\s*"?(\d+)/.exec(await answer.text())?.[1]);
    expect(await list(administrator, "data_name/brand_new/status/all")).toMatchObject(complete([id]));
    expect(await list(nobody, "data_name/brand_new/status/all")).toMatchObject(complete(404));
  });

  test("a public dataset that legacy lists, but does not show by itself, is not missing", async () => {
    const untold = completeDataset({ id: 7, name: "untold", uploader: owner.user.id, file_id: null });
    const { list, legacy } = await through([...rows, untold]);
    for (let i = 0; i < 2; i++) {
      expect(await list(administrator)).toMatchObject(complete([2, 3, 5, 6, 7, 9]));
      await legacy(owner, "json/data/edit", edited(7, "<oml:visibility>public</oml:visibility>"));
    }
  });

  test("a changed status or tag shows in the next list", async () => {
    const { list, legacy, url } = await through();
    const tag = (action: string) =>
      fetch(`${url}/v1/datasets/${action}`, {
        method: "POST",
        headers: { "X-API-Key": owner.key, "Content-Type": "application/json" },
        body: JSON.stringify({ data_id: 3, tag: "mine" }),
      });
    const writes: [write: () => Promise<unknown>, filter: string, after: number[] | number][] = [
      [() => legacy(owner, "json/data/tag", { data_id: "3", tag: "mine" }), "tag/MINE", [3]],
      [() => tag("untag"), "tag/mine", 404],
      [() => tag("tag"), "tag/mine", [3]],
      [
        () => legacy(owner, "json/data/status/update", { data_id: "3", status: "deactivated" }),
        "status/active",
        [2, 5, 6, 9],
      ],
    ];
    for (const [write, filter, after] of writes) {
      await list(administrator, filter);
      await write();
      expect({ filter, ...(await list(administrator, filter)) }).toMatchObject({ filter, ...complete(after) });
    }
  });
});

describe("a change that bypasses the gateway", () => {
  test.each<[string, Partial<DatasetRow> | undefined]>([
    ["turned private", { visibility: "private" }],
    ["was deleted", undefined],
  ])(
    "a list is marked incomplete until the next scan where a public dataset %s past the gateway",
    async (_, change) => {
      const { list, bed } = await through();
      const place = bed.datasets.findIndex(({ id }) => id === 9);
      if (change) Object.assign(bed.datasets[place] ?? {}, change);
      else bed.datasets.splice(place, 1);
      expect(await list(administrator)).toMatchObject({ ids: [2, 3, 5, 6], isIncomplete: true });
      expect(await list(administrator, "status/active")).toMatchObject({ ids: [2, 3, 5, 6], isIncomplete: true });
      expect(await list(administrator, "data_id/9,2")).toMatchObject({ ids: [2], isIncomplete: true });
      expect(await list(administrator, "data_id/2,3")).toMatchObject(complete([2, 3]));
      expect(await list(owner)).toMatchObject(complete([2, 3]));
    },
  );

  test("no page repeats a row that turned public past the gateway", async () => {
    const { list, bed } = await through();
    expect(await list(administrator)).toMatchObject(all);
    Object.assign(bed.datasets.find(({ id }) => id === 5) ?? {}, { visibility: "public" });
    expect(await list(administrator, "status/all/limit/2")).toMatchObject(complete([2, 3]));
    expect(await list(administrator, "status/all/limit/2/offset/2")).toMatchObject(complete([5, 6]));
    expect(await list(secondAdministrator, "status/all/limit/51")).toMatchObject(all);
  });
});
