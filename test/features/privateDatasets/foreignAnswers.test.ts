import { describe, expect, test } from "vitest";
import { until } from "../../support/waiting.ts";
import { administrator, owner, user } from "./people.ts";
import { fronted, over, scanningOver } from "./through.ts";

/** Bodies that answer no request of these tests, though their status is 200. */
const foreign: [string, string][] = [
  ["a page", "<html><body>Down for maintenance</body></html>"],
  ["another dataset", '{"data_set_description":{"id":"999","visibility":"public"}}'],
  ["a list of invalid ids", '{"data":{"dataset":[{"did":1.5},{"did":"x"},{"did":-1}]}}'],
];

describe.each(foreign)("%s with status 200", (_, body) => {
  test("makes no caller an administrator as a list, no private row public as a dataset", async () => {
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

  test("in place of every answer ends no scan", async () => {
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
