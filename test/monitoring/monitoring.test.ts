import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { writeExposition } from "../../src/operation/telemetry/exposition.ts";
import { openProcessMetrics } from "../../src/operation/telemetry/processMetrics.ts";
import type { FamilyValues } from "../../src/operation/telemetry/series.ts";
import { listeningGateway } from "../gateway/http/support.ts";
import { describeWith } from "../support/needs.ts";
import { dashboardPanels, dashboardQueries, files, metricNames, variableQueries } from "./queries.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const read = (path: string) => readFileSync(path, "utf8");
const promtool = (...args: string[]) => promisify(execFile)("promtool", args);

describeWith("promtool", "the rules for Prometheus", () => {
  test("promtool accepts the rules", async () => {
    expect((await promtool("check", "rules", files.alerts)).stdout).toMatch(/SUCCESS: \d+ rules found/);
  });

  // Each file of tests takes half a second: both at the same time.
  test.concurrent.each(files.alertTests)("alerts fire and end as %s says", async (file) => {
    await expect(promtool("test", "rules", file)).resolves.toHaveProperty("stdout", expect.stringContaining("SUCCESS"));
  });
});

test("every alert has a test in which it fires, and a row in docs/operate.md", () => {
  const alerts = [...read(files.alerts).matchAll(/- alert: (\w+)/g)].map(([, name]) => name as string);
  expect(alerts.length).toBeGreaterThan(0);
  const tests = files.alertTests.map(read).join("\n");
  const fired = new Set([...tests.matchAll(/alertname: (\w+)\s+exp_alerts:\s+- exp_labels/g)].map(([, name]) => name));
  expect(alerts.filter((name) => !fired.has(name))).toEqual([]);
  const rows = [...read(files.operate).matchAll(/^\| `CatalogGateway.*$/gm)].map(([row]) => row);
  const documented = rows.flatMap((row) => [...row.matchAll(/`(CatalogGateway\w+)`/g)].map(([, name]) => name));
  expect(new Set(documented)).toEqual(new Set(alerts));
});

/** The metrics of a gateway with these settings before its first request. */
const scrape = async (environment: Record<string, string>): Promise<FamilyValues[]> => {
  const { core } = await listeningGateway("http://127.0.0.1:9", environment);
  core.meter.join(openProcessMetrics());
  return core.meter.read();
};

/** A shared cache that is away, a migration, and a cache on the disk: together they have all metrics. */
const scrapes = () =>
  Promise.all([
    scrape({ REDIS_URL: "redis://127.0.0.1:9", DATA_DIR: temporaryFolder(), CACHE_LEGACY: "all" }),
    scrape({
      MODERN_URL: "http://127.0.0.1:9/v1",
      STAGES: '{"getDataset": {"stage": "shadow", "gate": {}}}',
      CACHE_DISK_BYTES: String(64 * 1024 ** 2),
      DATA_DIR: temporaryFolder(),
    }),
  ]);

test("the dashboard and the rules use only metrics that a scrape has", async () => {
  const known = new Set(
    (await scrapes())
      .flat()
      .flatMap(({ name, type }) =>
        type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
      ),
  );
  const queries = [...dashboardQueries().map(({ expr }) => expr), ...variableQueries()];
  const used = metricNames([read(files.alerts), ...queries].join("\n"));
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

test("a scrape has the state of each dependency", async () => {
  const named = (await scrapes()).map((families) => {
    const states = families.find(({ name }) => name === "catalog_gateway_dependency_up");
    return states?.values.map(({ labels }) => labels["dependency"]);
  });
  expect(named).toEqual([
    ["legacy", "redis", "reader_threads", "upstream_urls", "store"],
    ["legacy", "disk_cache", "reader_threads", "upstream_urls", "store", "stages", "modern"],
  ]);
});

describeWith("promtool", "the names of a scrape", () => {
  test("promtool accepts the names of a scrape", async () => {
    for (const families of await scrapes()) {
      const own = families.filter(({ name }) => name.startsWith("catalog_gateway_"));
      const { body } = await writeExposition(own);
      const { stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: body, encoding: "utf8" });
      expect([stdout, stderr]).toEqual(["", ""]);
    }
  });
});

test("the panels of the dashboard have ids of their own and places that do not overlap", () => {
  const panels = dashboardPanels();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect([x < 24, taken.get(`${x} ${y}`), title]).toEqual([true, undefined, title]);
        taken.set(`${x} ${y}`, title);
      }
});
