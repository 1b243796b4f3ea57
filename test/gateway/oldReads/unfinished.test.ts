import { hasFeatures } from "../../support/hasFeatures.ts";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/catalogue/rules/rule.ts";
import { cachingOver } from "./support.ts";
import { httpUpstream } from "../proxy/support.ts";
import { clock } from "../cache/support.ts";

const second = 1000;
/** 23 hours before the time that `clock` sets, 21 November 2026. */
const UPLOADED = "2026-11-20T13:00:00";
const evaluations = { evaluation: { name: "kappa", value: "1" } };
const run = (members: JsonObject = {}) => ({ run: { run_id: "7", task_id: "31", ...members } });
const dataset = (members: JsonObject = {}) => ({
  data_set_description: { id: "61", upload_date: UPLOADED, ...members },
});
/** Processed three hours after its upload. */
const processed = { status: "active", processing_date: "2026-11-20 16:00:00" };

/** A gateway that caches both interfaces, over a legacy that has one document. */
const gatewayOver = async (document: Json, environment: Record<string, string> = {}) => {
  const legacy = { document, isDown: false, asked: 0, url: "" };
  legacy.url = await httpUpstream((request, response) => {
    legacy.asked++;
    if (legacy.isDown) request.socket.destroy();
    else response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(legacy.document));
  });
  const { ask } = await cachingOver(legacy, environment);
  return { legacy, ask };
};

const [newRun, oldRun] = ["/v1/run/7", "/api/v1/json/run/7"];
const [newDataset, oldDataset] = ["/v1/datasets/61", "/api/v1/json/data/61"];

describe("a record that legacy's workers have not completed is fresh for 15 s", () => {
  test.each<[title: string, path: string, document: Json]>([
    ["a run without evaluations", newRun, run()],
    ["a run with files alone", newRun, run({ output_data: { file: { did: "-1", file_id: "9" } } })],
    ["a dataset in preparation", newDataset, dataset({ ...processed, status: "in_preparation" })],
    ["a dataset that was not processed", newDataset, dataset({ status: "active" })],
    ["a dataset of a later time zone", newDataset, dataset({ upload_date: "2026-11-21T14:00:00" })],
  ])("%s is not served stale while it is revalidated", async (_, path, document) => {
    const { pass } = clock();
    const { legacy, ask } = await gatewayOver(document);
    const { headers, body } = await ask(path);
    expect(headers.get("cache-control")).toBe("public, max-age=15, stale-if-error=604800");
    pass(14 * second);
    expect((await ask(path)).how).toBe("hit; ttl=1");
    pass(second);
    expect((await ask(path)).how).toBe("fwd=stale; stored; ttl=15");
    expect(legacy.asked).toBe(2);
    legacy.isDown = true;
    pass(24 * 3600 * second);
    expect(await ask(path)).toMatchObject({ status: 200, body });
  });

  test.each<[path: string, old: string, document: Json, complete: Json]>([
    [newRun, oldRun, run(), run({ output_data: evaluations })],
    [newDataset, oldDataset, dataset(), dataset(processed)],
  ])("the completion of %s is seen by the next read on both interfaces", async (path, old, before, after) => {
    const { pass } = clock();
    const { legacy, ask } = await gatewayOver(before);
    await ask(path);
    expect((await ask(old)).how).toContain("ttl=15");
    legacy.document = after;
    pass(15 * second);
    expect((await ask(path)).body).toMatch(/kappa|16:00/);
    expect(await ask(old)).toMatchObject({ body: JSON.stringify(after), how: expect.stringMatching(/ttl=(600|3600)/) });
  });

  test("a large run, which another thread reads, is fresh for as long", async () => {
    const { ask } = await gatewayOver(run({ setup_string: "x".repeat(300_000) }));
    expect((await ask(newRun)).headers.get("cache-control")).toBe("public, max-age=15, stale-if-error=604800");
  });

  test.runIf(hasFeatures)("modern's answer is fresh for as long", async () => {
    const { ask: askLegacy } = await gatewayOver(run());
    const { body } = await askLegacy(newRun);
    const modern = await httpUpstream((_, response) =>
      response.writeHead(200, { "Content-Type": "application/json" }).end(body),
    );
    const stages = JSON.stringify({ getRun: { stage: "modern", share: 0 } });
    const { ask } = await gatewayOver(run(), { MODERN_URL: modern, STAGES: stages });
    const { headers } = await ask(newRun);
    expect(headers.get("gateway-decision")).toContain("backend=modern");
    expect(headers.get("cache-control")).toBe("public, max-age=15, stale-if-error=604800");
  });

  test("`preconditionTtl` holds for it, but it is never fresh for longer than others", async () => {
    const lifetimes = { getRun: { preconditionTtl: "5s" }, getDataset: { preconditionTtl: "1h", fresh: "1m" } };
    clock();
    const { legacy, ask } = await gatewayOver(run(), { CACHE_LIFETIMES: JSON.stringify(lifetimes) });
    expect((await ask(newRun)).headers.get("cache-control")).toContain("max-age=5,");
    legacy.document = dataset();
    expect((await ask(newDataset)).headers.get("cache-control")).toContain("max-age=60,");
  });
});

test.each<[title: string, path: string, document: Json]>([
  ["a run with evaluations", newRun, run({ output_data: evaluations })],
  ["a run whose evaluation failed", newRun, run({ error: "Too many values" })],
  ["a run that failed", newRun, run({ error_message: "Out of memory" })],
  ["a dataset that was processed", newDataset, dataset(processed)],
  ["a dataset of a day ago", newDataset, dataset({ upload_date: "2026-11-20T11:00:00", status: "in_preparation" })],
  ["a dataset without a time of upload", newDataset, dataset({ upload_date: [] })],
])("%s is served stale while it is revalidated", async (_, path, document) => {
  clock();
  const { ask } = await gatewayOver(document);
  expect((await ask(path)).headers.get("cache-control")).toMatch(/max-age=(600|3600), stale-while-revalidate=/);
});
