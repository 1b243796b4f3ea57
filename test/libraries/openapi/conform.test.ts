import { afterAll, beforeAll, expect, test } from "vitest";
import { openApiDocument } from "../../../libraries/openapi/openApiDocument.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { keys } from "../../gateway/answer/support.ts";
import { listeningGateway } from "../../gateway/http/support.ts";
import { endpoints } from "../../../transforms/index.ts";
import { conform } from "./conform.ts";

let legacy: Awaited<ReturnType<typeof startSampleLegacy>>;
beforeAll(async () => {
  legacy = await startSampleLegacy();
  await legacy.load();
});
afterAll(() => legacy.close());

/** The number of requests; `CASES=50000` for a long run. */
const CASES = Number(process.env["CASES"] ?? 660);

const document = JSON.stringify(openApiDocument({ version: "1", prefix: "/v1", endpoints }));
const settings = {
  prefix: "/v1",
  credentials: { known: [keys.user, keys.reader, keys.owner], unknown: keys.unknown },
  seed: 15,
};

test(
  "OpenAPI documents every status, header and shape of generated requests",
  async () => {
    const { url: origin } = await listeningGateway(legacy.url);
    const result = await conform({ ...settings, origin, document, requests: CASES });
    expect(result.findings).toEqual([]);
    expect(result.sent).toBe(CASES);
    // Endpoints answered, and refused.
    const seen = Object.entries(result.statuses);
    for (const status of [401, 422]) expect(seen.filter(([, counts]) => counts[status]).length).toBeGreaterThan(0);
    expect(new Set(seen.flatMap(([name, counts]) => (counts[200] ? [name] : []))).size).toBeGreaterThan(0);
  },
  Math.max(90_000, 20 * CASES),
);

type Changed = {
  components: { schemas: { getDataset: { properties: { id: { type: string } } } } };
  paths: {
    "/datasets/{dataset_id}": { get: { responses: { 200: { headers: Record<string, unknown> }; 422?: unknown } } };
  };
};

test("an answer that OpenAPI does not document is found", async () => {
  const { url: origin } = await listeningGateway(legacy.url);
  const changed = JSON.parse(document) as Changed;
  const { responses } = changed.paths["/datasets/{dataset_id}"].get;
  delete responses[200].headers["ETag"];
  delete responses[422];
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
