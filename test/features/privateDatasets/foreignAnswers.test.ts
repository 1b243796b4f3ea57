import { describe, expect, test } from "vitest";
import { completeDataset } from "../../../src/tools/sampleLegacy/completeDataset.ts";
import { until } from "../../support/waiting.ts";
import { administrator, owner, user } from "./people.ts";
import { fronted, over, scanningOver, rows } from "./through.ts";

/** What is no answer to anything that is asked here, though its status is 200. */
const foreign: [string, string][] = [
  ["a page", "<html><body>Down for maintenance</body></html>"],
  ["an empty object", "{}"],
  ["a list of ids that are none", '{"data":{"dataset":[{"did":1.5},{"did":"x"},{"did":-1}]}}'],
  ["another dataset", '{"data_set_description":{"id":"999","visibility":"public"}}'],
  ["a dataset that is seen by friends", '{"data_set_description":{"id":"3","visibility":"friends"}}'],
];

describe.each(foreign)("%s with status 200", (_, body) => {
  test("as a list makes no caller an administrator, as a dataset no private row public", async () => {
    const front = await fronted();
    const { list, legacy } = await over(front, {}, { scan: { retry: 1 } });
    front.replace(/data_id/, 200, body);
    for (const limit of [50, 51]) {
      const { ids } = await list(owner, `status/all/limit/${limit}`);
      expect(typeof ids === "number" ? [2, 3, 9] : ids).toEqual([2, 3, 9]);
      expect((await list(user, `status/all/limit/${limit}`)).ids).toEqual([2, 9]);
    }
    front.replace(/\/data\/3\b/, 200, body);
    await legacy(owner, "json/data/tag", { data_id: "3", tag: "mine" });
    expect(await list(administrator)).toMatchObject({ isIncomplete: true });
    front.instead = undefined;
    await legacy(owner, "json/data/tag", { data_id: "3", tag: "again" });
    await until(async () => {
      const { ids, isIncomplete } = await list(administrator, "status/all/limit/50");
      return !isIncomplete && JSON.stringify(ids) === "[2,3,5,6,9]";
    });
  });

  test("instead of everything ends no scan", async () => {
    const front = await fronted();
    front.replace(/./, 200, body);
    const { scanned, list, state } = await scanningOver(front, {}, { scan: { retry: 1 } });
    await until(() => state()?.trouble !== undefined);
    expect(state()?.state).toBe("scanning");
    front.instead = undefined;
    await scanned();
    expect(await list(administrator)).toMatchObject({ ids: [2, 3, 5, 6, 9], isIncomplete: false });
  });
});

describe("legacy's list writes names as they are, and who names a dataset writes JSON", () => {
  test.each([
    ["another id", `q","did":999,"x":"`],
    ["a whole row", `q"},{"did":5,"name":"z`],
    ["another list", `q"}],"dataset":[{"did":2,"name":"z`],
    ["the end of it", `q"}]},"x":[{"a":"`],
    ["an error", `q"}]},"error":{"code":"372","message":"No results"},"x":[{"a":"`],
  ])("but no owner of a private dataset becomes an administrator by it: %s", async (_, name) => {
    for (const id of [1, 4]) {
      const crafted = completeDataset({ id, name, uploader: owner.user.id, visibility: "private" });
      const { list } = await over(await fronted([...rows, crafted]));
      for (const filters of ["status/all/data_id/5", "data_name/other", "data_name/own"])
        expect([404, 502]).toContain((await list(owner, filters)).ids);
      expect((await list(administrator, "data_name/other")).ids).toEqual([5]);
    }
  });

  test("nor does a public one keep a private one from being found", async () => {
    const crafted = completeDataset({ id: 4, name: `q"},{"did":5,"name":"z`, uploader: owner.user.id });
    const { list, state } = await over(await fronted([...rows, crafted]));
    expect(state()?.rows).toBe(3);
    expect((await list(administrator, "data_name/other")).ids).toEqual([5]);
  });
});
