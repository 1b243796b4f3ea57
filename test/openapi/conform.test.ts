import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { keys } from "../serve/support.ts";
import { listeningGateway } from "../http/support.ts";
import { conform } from "./conform.ts";

let legacy: Awaited<ReturnType<typeof startSampleLegacy>>;
beforeAll(async () => {
  legacy = await startSampleLegacy();
  await legacy.load();
});
afterAll(() => legacy.close());

const document = readFileSync("docs/openapi.json", "utf8");
const settings = {
  prefix: "/v1",
  credentials: { known: [keys.user, keys.reader, keys.owner], unknown: keys.unknown },
  seed: 15,
};

test("the document says every status, header, type and shape of generated requests", async () => {
  const { url: origin } = await listeningGateway(legacy.url);
  const result = await conform({ ...settings, origin, document, requests: 660 });
  expect(result.findings).toEqual([]);
  expect(result.sent).toBe(660);
  // Every endpoint was answered, and refused.
  const seen = Object.entries(result.statuses).map(([name, counts]) => [name.replace(/\d$/, ""), counts] as const);
  for (const status of [401, 422]) expect(seen.filter(([, counts]) => counts[status]).length).toBeGreaterThan(10);
  expect(new Set(seen.flatMap(([name, counts]) => (counts[200] ? [name] : []))).size).toBeGreaterThan(8);
});

type Changed = {
  components: {
    responses: { getDataset: { headers: Record<string, unknown> } };
    schemas: { getDataset: { properties: { id: { type: string } } } };
  };
  paths: { "/datasets/{dataset_id}": { get: { responses: Record<string, unknown> } } };
};

test("what the document does not say is found", async () => {
  const { url: origin } = await listeningGateway(legacy.url);
  const changed = JSON.parse(document) as Changed;
  delete changed.components.responses.getDataset.headers["ETag"];
  delete changed.paths["/datasets/{dataset_id}"].get.responses["422"];
  changed.components.schemas.getDataset.properties.id.type = "boolean";
  changed.paths = { "/datasets/{dataset_id}": changed.paths["/datasets/{dataset_id}"] };
  const { findings } = await conform({ ...settings, origin, document: JSON.stringify(changed), requests: 40 });
  const found = findings.filter(({ operation }) => operation === "getDataset").map(({ what }) => what);
  expect(found).toEqual(
    expect.arrayContaining([
      "undocumented header etag of 200",
      "undocumented status 422",
      expect.stringContaining("undocumented shape of 200"),
    ]),
  );
});
