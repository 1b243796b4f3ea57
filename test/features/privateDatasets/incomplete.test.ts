import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import type { RowFilters } from "../../../src/catalogue/endpoint/endpoint.ts";
import { openStores } from "../../../libraries/stores/openStores.ts";
import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { endpoints } from "../../../transforms/index.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";
import { administrator, nobody, otherOwner, owner, secondAdministrator, user } from "./people.ts";
import { fronted, rows, scanningThrough, through } from "./through.ts";

afterEach(() => void vi.restoreAllMocks());

const own = { ids: [2, 6, 9], isIncomplete: true };
const whole = { ids: [2, 3, 5, 6, 9], isIncomplete: false };

describe("a list that says that it may lack something", () => {
  test("during the first scan administrators' lists are marked incomplete, and no others", async () => {
    const front = await fronted();
    front.replace(/\/data\/12\b/);
    const { list, state } = await scanningThrough(front);
    await until(() => state()?.at === 12);
    expect(state()).toMatchObject({ state: "scanning", rows: 3 });
    expect(await list(administrator)).toMatchObject({ ...whole, isIncomplete: true });
    expect(await list(user)).toMatchObject({ ids: [2, 9], isIncomplete: false });
  });

  test("a list is marked incomplete where the last scan is older than an hour", async () => {
    const front = await fronted();
    const { list, state } = await through(front);
    expect(await list(administrator)).toMatchObject(whole);
    front.replace(/xml\/data\/list/);
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, "now").mockImplementation(() => now() + 61 * 60_000);
    expect(state()?.state).toBe("outdated");
    expect(await list(administrator)).toMatchObject({ ...whole, isIncomplete: true });
    later.mockRestore();
    expect(await list(administrator)).toMatchObject(whole);
  });

  test("a list is marked incomplete where the stored scan ended in the future", async () => {
    const front = await fronted();
    const DATA_DIR = temporaryFolder();
    const now = Date.now;
    const ahead = vi.spyOn(Date, "now").mockImplementation(() => now() + 86_400_000);
    const first = await through(front, { DATA_DIR });
    await first.close();
    ahead.mockRestore();
    front.replace(/xml\/data\/list/);
    const { list, state, scanned } = await scanningThrough(front, { DATA_DIR }, { scan: { retry: 1 } });
    expect(state()).toMatchObject({ state: "scanning", rows: 3 });
    expect(await list(administrator)).toMatchObject({ ...whole, isIncomplete: true });
    front.release();
    await scanned();
    expect(await list(administrator)).toMatchObject(whole);
  });

  test.each(["status/all", "status/all/tag/demo"])(
    "a list is marked incomplete where legacy calls it empty and it had rows: %s",
    async (filters) => {
      const { list, bed } = await through();
      const before = await list(administrator, filters);
      const { ids } = await list(nobody, filters);
      await fetch(`${bed.url}/outage/table-dataset`, { method: "POST" });
      expect(await list(secondAdministrator, filters)).toMatchObject({ ids, isIncomplete: true });
      await fetch(`${bed.url}/outage/`, { method: "DELETE" });
      expect(await list(secondAdministrator, filters)).toMatchObject({ ids: before.ids, isIncomplete: false });
    },
  );

  test("a scan whose list is empty and had rows fails, and takes out no private row", async () => {
    const front = await fronted();
    const { list, state } = await through(front, {}, { scan: { pause: 1, retry: 1 } });
    front.replace(/xml\/data\/list/);
    await until(() => front.held.length > 0);
    await fetch(`${front.legacyUrl}/outage/table-dataset`, { method: "POST" });
    front.seen.length = 0;
    front.release();
    // The scan that was broken off, and the next one.
    await until(() => front.asked(secondAdministrator).filter((target) => target.includes("/data/2?")).length === 2);
    expect(state()).toMatchObject({ rows: 3, trouble: expect.any(String) });
    await fetch(`${front.legacyUrl}/outage/`, { method: "DELETE" });
    await until(() => state()?.trouble === undefined);
    expect(await list(administrator)).toMatchObject({ ids: whole.ids });
    for (const row of front.datasets) row.visibility = "private";
    await until(() => state()?.rows === 5);
    expect(state()?.trouble).toBeUndefined();
  });

  test("a list is marked incomplete where it is unknown if a row passes its filter", async () => {
    const filters = endpoints.listDatasets.rowById?.filters as Partial<RowFilters>;
    const { tag } = filters;
    onTestFinished(() => void Object.assign(filters, { tag }));
    delete filters["tag"];
    const { list } = await through();
    expect(await list(administrator, "status/all/tag/demo")).toMatchObject({ ids: [2], isIncomplete: true });
    expect(await list(administrator)).toMatchObject(whole);
  });

  test("lists are marked incomplete while legacy does not give the scan its public list", async () => {
    const front = await fronted();
    front.replace(/xml\/data\/list/, 500);
    const { list, state, scanned } = await scanningThrough(front, {}, { scan: { retry: 1 } });
    await until(() => state()?.trouble !== undefined);
    expect(await list(administrator)).toMatchObject(own);
    front.release();
    await scanned();
    expect(await list(administrator)).toMatchObject(whole);
  });

  test("lists are marked incomplete where the key of the scan is not an administrator's", async () => {
    const { list, state, observer, core } = await scanningThrough(undefined, { LEGACY_ADMIN_KEY: user.key });
    await until(() => state()?.trouble !== undefined);
    expect(state()).toMatchObject({ state: "scanning", rows: 0, trouble: "the key is no administrator's" });
    expect(observer.counts()).toMatchObject({ "private_scan_refused listDatasets": 1 });
    expect(core.dependencies.failed()).toMatchObject([
      { trouble: "Legacy has been refusing LEGACY_ADMIN_KEY", why: "the key is no administrator's" },
    ]);
    expect(await list(administrator)).toMatchObject(own);
  });

  test("lists are marked incomplete while the disk cannot store rows", async () => {
    const DATA_DIR = temporaryFolder();
    await (await openStores({ DATA_DIR, onEvent: () => undefined })).close();
    const file = new DatabaseSync(join(DATA_DIR, "catalog-gateway.sqlite"));
    file.exec(`
      CREATE TRIGGER full BEFORE INSERT ON entries
      WHEN new.feature <> 'freed' AND NOT EXISTS (SELECT 1 FROM entries WHERE feature = 'freed')
      BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END`);
    file.close();
    const { list, scanned, state, features } = await scanningThrough(rows, { DATA_DIR }, { scan: { retry: 1 } });
    await until(() => state()?.trouble !== undefined);
    expect(state()).toMatchObject({ state: "scanning", rows: 0, trouble: "database or disk is full" });
    expect(await list(administrator)).toMatchObject(own);
    await (await features.stores.open({ feature: "freed", schema: () => z.boolean() })).update("now", () => true);
    await scanned();
    expect(await list(administrator)).toMatchObject(whole);
  });

  test("lists are incomplete until each unreadable row is read again, or gone", async () => {
    const front = await fronted();
    const DATA_DIR = temporaryFolder();
    const stored = await through(front, { DATA_DIR });
    await stored.features.stores.close();
    const file = new DatabaseSync(join(DATA_DIR, "catalog-gateway.sqlite"));
    file.exec(`UPDATE entries SET value = '{"id":"text"}' WHERE key IN ('3', '5')`);
    file.close();
    front.use(rows.filter(({ id }) => id !== 5));
    front.replace(/(json|xml)\/data\/[35]\b/);
    const { list, state, observer, features } = await scanningThrough(front, { DATA_DIR });
    expect(state()).toMatchObject({ state: "complete", rows: 3, hidden: 2 });
    expect(observer.counts()).toMatchObject({ store_unreadable: 1 });
    expect(await list(administrator)).toMatchObject(own);
    expect(await list(administrator, "status/all/data_id/2,6")).toMatchObject({ ids: [2, 6], isIncomplete: false });
    expect(await list(owner)).toMatchObject({ ids: [2, 3, 9], isIncomplete: false });
    front.release();
    await until(async () => !(await list(administrator)).isIncomplete);
    expect(await list(administrator)).toMatchObject({ ids: [2, 3, 6, 9], isIncomplete: false });
    expect(state()).toMatchObject({ rows: 2, hidden: 0 });
    await features.stores.close();
    expect((await scanningThrough(front, { DATA_DIR })).observer.counts()).not.toHaveProperty("store_unreadable");
  });

  test.each<[string, Partial<DatasetRow>]>([
    ["without a file (113)", { file_id: null }],
    ["whose description legacy fails at (500)", { description: "a\u000cb" }],
    ["of another visibility", { visibility: "friends" }],
  ])("a list is marked incomplete where it may lack a row %s", async (_, about) => {
    const untold = completeDataset({ id: 7, name: "untold", uploader: owner.user.id, visibility: "private" });
    const { list, state } = await through([...rows, { ...untold, ...about }], {}, { scan: { retry: 1 } });
    expect(state()?.hidden).toBe(1);
    expect(await list(administrator)).toMatchObject({ ...whole, isIncomplete: true });
    expect(await list(administrator, "status/all/limit/2/offset/1")).toMatchObject({ ids: [3, 5], isIncomplete: true });
    expect(await list(administrator, "status/all/data_id/2,3")).toMatchObject({ ids: [2, 3], isIncomplete: false });
    expect(await list(secondAdministrator, "status/all/data_id/7")).toMatchObject({ ids: 404, isIncomplete: true });
    expect(await list(owner)).toMatchObject({ ids: [2, 3, 7, 9], isIncomplete: false });
    expect(await list(user)).toMatchObject({ ids: [2, 9], isIncomplete: false });
  });

  test("a list by uploader is incomplete until all uploaders have listed their rows", async () => {
    const { list } = await through();
    const by = (id: number) => `status/all/uploader/${id}`;
    expect(await list(administrator, by(16))).toMatchObject({ ids: [2], isIncomplete: true });
    expect(await list(owner, by(16))).toMatchObject({ ids: [2, 3], isIncomplete: false });
    // The owners of the other rows are still unknown.
    expect(await list(administrator, by(16))).toMatchObject({ ids: [2, 3], isIncomplete: true });
    expect(await list(otherOwner, by(17))).toMatchObject({ ids: [5, 9], isIncomplete: false });
    for (const isIncomplete of [true, false])
      expect(await list(administrator, by(1))).toMatchObject({ ids: [6], isIncomplete });
    expect(await list(administrator, by(16))).toMatchObject({ ids: [2, 3], isIncomplete: false });
    expect(await list(administrator, by(17))).toMatchObject({ ids: [5, 9], isIncomplete: false });
    expect(await list(administrator, by(99))).toMatchObject({ ids: 404, isIncomplete: false });
  });
});

test("while legacy is down lists are errors, and the scan reports it once", async () => {
  const { list, bed, state, observer } = await through(undefined, {}, { scan: { pause: 50, retry: 10 } });
  await bed.close();
  await until(() => state()?.trouble !== undefined);
  // While legacy fails the scan asks nothing.
  const attempts = () => observer.counts()["legacy_failed listDatasets"] ?? 0;
  const before = attempts();
  await until(() => attempts() > before + 3);
  expect(observer.counts()).toMatchObject({ "private_scan_failed listDatasets": 1 });
  const { ids, isIncomplete } = await list(administrator);
  expect([502, 503]).toContain(ids);
  expect(isIncomplete).toBe(false);
});
