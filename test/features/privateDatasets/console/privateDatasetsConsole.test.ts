import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { completeDataset } from "../../../../tools/sampleLegacy/completeDataset.ts";
import { consoleFor } from "../../console/consoleFor.ts";
import { shown } from "../../console/page/operators.ts";
import type { PrivateRowsView } from "../../../../features/privateDatasets/scan.ts";
import { askList } from "../askList.ts";
import { type Bed, openBed } from "../bed.ts";
import { fronted } from "../through.ts";
import { administrator, owner, secondAdministrator } from "../people.ts";
import { BEYOND, startScanned, startScanning } from "../scanned.ts";
import { gatewayFor, type TestGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/waiting.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

/** A public dataset, two private datasets, and a private dataset that legacy hides. */
const rows = [
  completeDataset({ id: 1, name: "seen" }),
  completeDataset({ id: 2, name: "own", visibility: "private", uploader: owner.user.id }),
  completeDataset({ id: 3, name: "hidden", visibility: "private", uploader: owner.user.id, file_id: null }),
  completeDataset({ id: 7, name: "last", visibility: "private", uploader: owner.user.id }),
];
const LAST = 7 + BEYOND;

/** A gateway's views for operators. No key may ever be in them. */
const viewsOf = (gateway: TestGateway) => {
  onTestFinished(() => gateway.close());
  const app = consoleFor(gateway);
  const see = async (path: string): Promise<string> => {
    const text = await (await app.request(path, { headers: { host: "127.0.0.1" } })).text();
    for (const { key } of [administrator.user, secondAdministrator.user, owner.user]) expect(text).not.toContain(key);
    return text;
  };
  /** The section of the page: the state of the scan, the share of the ids that were read, and the whole text. */
  const section = async () => {
    const page = await see("/");
    const text = page.slice(page.indexOf('<section id="private-rows"'));
    const share = /<progress value="([^"]*)"/.exec(text)?.[1];
    return { scan: shown(text, "scan")[0]?.["scan"], share: Number(share), text };
  };
  return {
    see,
    section,
    cache: async () => JSON.parse(await see("/cache")) as { privateRows?: PrivateRowsView },
    metrics: async () => {
      const lines = (await see("/metrics")).split("\n").filter((line) => line.startsWith("catalog_gateway_private_"));
      return Object.fromEntries(lines.map((line) => line.split(" ")).map(([name, value]) => [name, Number(value)]));
    },
  };
};

test("without the setting there is no view", async () => {
  const { section, cache, metrics } = viewsOf(await gatewayFor(bed.url));
  expect(await cache()).not.toHaveProperty("privateRows");
  expect(await metrics()).toEqual({});
  expect(shown((await section()).text, "off")).toMatchObject([{ off: "LEGACY_ADMIN_KEY" }]);
});

test("during the first scan: its progress, and how many lists may be incomplete", async () => {
  const front = await fronted(rows);
  front.replace(/\/data\/4\b/);
  const gateway = await startScanning(front.url, { TOTAL_TIMEOUT_MS: "3000" });
  const { section, cache, metrics } = viewsOf(gateway);
  await until(() => gateway.state().at === 4);
  await until(() => front.seen.some((target) => /\/data\/4\b/.test(target)));
  await askList(gateway.app, administrator, {});
  expect((await cache()).privateRows).toEqual({
    state: "scanning",
    rows: 2,
    hidden: 1,
    at: 4,
    lastId: 2 + BEYOND,
    // The probe, the list, the second id and its qualities, the third.
    calls: 5,
    kept: "memory",
    scansHere: true,
  });
  expect(await metrics()).toEqual({
    catalog_gateway_private_rows: 2,
    catalog_gateway_private_rows_hidden: 1,
    catalog_gateway_private_scan_complete: 0,
    catalog_gateway_private_scan_calls_total: 5,
    catalog_gateway_private_incomplete_total: 1,
  });
  expect(await section()).toMatchObject({ scan: "scanning", share: 4 / (2 + BEYOND) });
});

test("after the scan: the rows found, since when, and the requests it took", async () => {
  bed.use(rows);
  const before = Date.now();
  const gateway = await startScanned(bed.url);
  const { see, section, cache, metrics } = viewsOf(gateway);
  const { privateRows } = await cache();
  expect(privateRows).toMatchObject({ state: "complete", rows: 3, hidden: 1, at: 0, lastId: LAST });
  expect(Date.parse(privateRows?.completedAt ?? "")).toBeGreaterThanOrEqual(before);
  // The probe and the list; each id but the listed one; the qualities of two.
  const calls = 2 + (LAST - 1) + 2;
  expect(await metrics()).toEqual({
    catalog_gateway_private_rows: 3,
    catalog_gateway_private_rows_hidden: 1,
    catalog_gateway_private_scan_complete: 1,
    catalog_gateway_private_scan_calls_total: calls,
    catalog_gateway_private_incomplete_total: 0,
  });
  expect(await section()).toMatchObject({ scan: "complete", share: 1 });
  const now = performance.now.bind(performance);
  const later = vi.spyOn(performance, "now").mockImplementation(() => now() + 61 * 60_000);
  expect(await section()).toMatchObject({ scan: "outdated", share: 1 });
  later.mockRestore();
  expect(await see("/metrics")).toContain(`catalog_gateway_events_total{event="private_row_hidden",endpoint=""} 1`);
});

test("the page says that legacy does not know the key, so no rows are found", async () => {
  bed.use(rows);
  const wrong = "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
  const gateway = await startScanning(bed.url, { LEGACY_ADMIN_KEY: wrong });
  const { see, section, cache } = viewsOf(gateway);
  await until(() => gateway.state().trouble !== undefined);
  const trouble = (await cache()).privateRows?.trouble ?? "";
  expect(trouble).toContain("key");
  expect((await section()).text).toContain(trouble);
  const metrics = await see("/metrics");
  expect(metrics).toContain(`catalog_gateway_events_total{event="private_scan_refused",endpoint=""} 1`);
  for (const text of [await see("/"), await see("/cache"), metrics]) expect(text).not.toContain(wrong);
});
