import { expect, test, vi } from "vitest";
import { completeDataset } from "../../../../tools/sampleLegacy/completeDataset.ts";
import { consoleFor } from "../../console/consoleFor.ts";
import { shown } from "../../console/page/operators.ts";
import type { PrivateRowsView } from "../../../../features/privateDatasets/scan.ts";
import { administrator, owner, secondAdministrator, wrongKey } from "../people.ts";
import { BEYOND, fronted, scanningThrough, through } from "../through.ts";
import type { TestGateway } from "../../../support/gateway.ts";
import { until } from "../../../support/waiting.ts";

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
  const app = consoleFor(gateway);
  const see = async (path: string): Promise<string> => {
    const text = await (await app.request(path, { headers: { host: "127.0.0.1" } })).text();
    for (const { key } of [administrator, secondAdministrator, owner, wrongKey]) expect(text).not.toContain(key);
    return text;
  };
  return {
    see,
    /** The section of the page: the state of the scan, the share of the ids that were read, and the whole text. */
    section: async () => {
      const page = await see("/");
      const text = page.slice(page.indexOf('<section id="private-rows"'));
      const share = /<progress value="([^"]*)"/.exec(text)?.[1];
      return { scan: shown(text, "scan")[0]?.["scan"], share: Number(share), text };
    },
    cache: async () => (JSON.parse(await see("/cache")) as { privateRows?: PrivateRowsView }).privateRows,
    /** The values of `rows`, `rows_hidden`, `scan_complete`, `scan_calls_total` and `incomplete_total`. */
    metrics: async () =>
      [...(await see("/metrics")).matchAll(/^catalog_gateway_private_\w+ (\d+)$/gm)].map(([, value]) => Number(value)),
  };
};

test("without the setting there is no view", async () => {
  const { section, cache, metrics } = viewsOf(await scanningThrough(rows, { LEGACY_ADMIN_KEY: "" }));
  expect([await cache(), await metrics()]).toEqual([undefined, []]);
  expect(shown((await section()).text, "off")).toMatchObject([{ off: "LEGACY_ADMIN_KEY" }]);
});

test("during the first scan: its progress, and how many lists may be incomplete", async () => {
  const front = await fronted(rows);
  front.replace(/\/data\/4\b/);
  const gateway = await scanningThrough(front, { TOTAL_TIMEOUT_MS: "3000" });
  const { section, cache, metrics } = viewsOf(gateway);
  await until(() => front.held.length > 0);
  await gateway.list(administrator);
  // The probe, the list, the second id and its qualities, the third.
  const calls = 5;
  const progress = { state: "scanning", rows: 2, hidden: 1, at: 4, lastId: 2 + BEYOND, calls };
  expect(await cache()).toEqual({ ...progress, kept: "memory", scansHere: true });
  expect(await metrics()).toEqual([2, 1, 0, calls, 1]);
  expect(await section()).toMatchObject({ scan: "scanning", share: 4 / (2 + BEYOND) });
});

test("after the scan: the rows found, since when, and the requests it took", async () => {
  const before = Date.now();
  const { see, section, cache, metrics } = viewsOf(await through(rows));
  const view = await cache();
  expect(view).toMatchObject({ state: "complete", rows: 3, hidden: 1, at: 0, lastId: LAST });
  expect(Date.parse(view?.completedAt ?? "")).toBeGreaterThanOrEqual(before);
  // The probe and the list; each id but the listed one; the qualities of two.
  expect(await metrics()).toEqual([3, 1, 1, 2 + (LAST - 1) + 2, 0]);
  expect(await section()).toMatchObject({ scan: "complete", share: 1 });
  const now = performance.now.bind(performance);
  const later = vi.spyOn(performance, "now").mockImplementation(() => now() + 61 * 60_000);
  expect(await section()).toMatchObject({ scan: "outdated", share: 1 });
  later.mockRestore();
  expect(await see("/metrics")).toContain(`catalog_gateway_events_total{event="private_row_hidden",endpoint=""} 1`);
});

test("a key that legacy does not know: the reason that no rows are found", async () => {
  const gateway = await scanningThrough(rows, { LEGACY_ADMIN_KEY: wrongKey.key as string });
  await until(() => gateway.state()?.trouble !== undefined);
  const { section, cache } = viewsOf(gateway);
  const trouble = "legacy does not know the key";
  expect(await cache()).toMatchObject({ state: "scanning", trouble });
  expect((await section()).text).toContain(trouble);
});
