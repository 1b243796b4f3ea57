import { onTestFinished, describe, expect, test } from "vitest";
import { startSampleLegacy } from "../../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { check } from "../../../src/tools/check.ts";
import { entrySchema, type LedgerEntry, openLedger, readLedger } from "../../../src/compare/ledger.ts";
import { openAsModern, openCandidateSide } from "../../../src/tools/compare/candidateSide.ts";
import { compareOne } from "../../../src/tools/compare/compareOne.ts";
import { openQuietGateway } from "../../../src/tools/quietGateway.ts";
import { loadSettings } from "../../../src/settings/load.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { endpoints } from "../../../transforms/index.ts";
import { until } from "../../support/waiting.ts";
import { httpUpstream } from "../../proxy/support.ts";
import { migrationOf } from "./support.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { known } from "../../support/settings.ts";

const JSON_TYPE = "application/json";
const PROBLEM = "application/problem+json";
const today = new Date().toISOString().slice(0, 10);
const shipped = readLedger(catalogue.expectedDifferences, "EXPECTED_DIFFERENCES");
if ("errors" in shipped) throw new Error(shipped.errors.join("\n"));

type Given = { status: number; type?: string; body: unknown };
const router: Given = { status: 404, body: { detail: "Not Found" } };
const itsOwn: Given = {
  status: 404,
  type: PROBLEM,
  body: { type: "https://x/flow-not-found", detail: "No such flow." },
};
const lenient: LedgerEntry = {
  id: "anything",
  endpoint: "*",
  path: "/**",
  kind: "*",
  reason: "known",
  owner: "us",
  until: "2999-01-01",
};

/** A new implementation that gives all requests the same answer, and the sample legacy. */
const sides = async ({ status, type = JSON_TYPE, body }: Given) => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const modernUrl = await httpUpstream((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(status, { "Content-Type": type });
      response.end(JSON.stringify(body));
    });
  });
  return { legacyUrl: legacy.url, modernUrl };
};

/** The counts of a shadow for requests that legacy answers with "does not exist". */
const shadowed = async (given: Given, expected: LedgerEntry[] = shipped.entries) => {
  const { legacyUrl, modernUrl } = await sides(given);
  const gateway = await gatewayFor(
    legacyUrl,
    { MODERN_URL: modernUrl, STAGES: JSON.stringify({ findFlow: { stage: "shadow", share: 100 } }) },
    { expected, times: { recheck: 5, look: 20 } },
  );
  onTestFinished(gateway.close);
  for (let i = 0; i < 3; i++) await gateway.app.request(`/v1/flow/exists/no-such-flow/${i}`);
  const migration = migrationOf(gateway);
  await until(() => migration.viewOf("findFlow").parity.compared === 3);
  const { expected: allowed, unexplained } = migration.viewOf("findFlow").parity;
  const shown = migration.differences("unexplained").map(({ path, cause }) => `${path}: ${cause}`);
  return { allowed, unexplained, shown };
};

/** The row of `--check` about an unknown flow. */
const checked = async (given: Given) => {
  const { legacyUrl, modernUrl } = await sides(given);
  const gateway = await gatewayFor(legacyUrl, { MODERN_URL: modernUrl }, { expected: shipped.entries });
  onTestFinished(gateway.close);
  const lines: string[] = [];
  await check(gateway, { settings: gateway.core.settings, strict: false, print: (line) => lines.push(line) });
  return lines.find((line) => line.includes("modern findFlow unknown"));
};

/** The result of `npm run compare` for one request. */
const compared = async (
  given: Given,
  {
    isModern,
    path = "/flow/exists/no-such-flow/1",
    endpoint = "findFlow",
  }: {
    isModern: boolean;
    path?: string;
    endpoint?: keyof typeof endpoints;
  },
) => {
  const { legacyUrl, modernUrl } = await sides(given);
  const loaded = loadSettings({ LEGACY_URL: legacyUrl }, known);
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  const { settings } = loaded;
  const legacy = await openQuietGateway({ ...settings, LEGACY_URL: legacyUrl }, catalogue, "test");
  const candidate = openCandidateSide(modernUrl, {
    connections: 1,
    waiting: 1,
    connectTimeout: 1000,
    headersTimeout: 1000,
    bodyTimeout: 1000,
    totalTimeout: 5000,
    maxReply: 1_000_000,
    keyIn: isModern ? "query" : "header",
  });
  onTestFinished(async () => {
    await Promise.all([legacy.close(), candidate.close()]);
  });
  const { outcome } = await compareOne(
    {
      catalogue,
      legacy,
      candidate,
      ...(isModern ? { asModern: openAsModern(endpoints, {}) } : {}),
      ledger: openLedger(shipped.entries, today),
      addresses: { legacy: legacyUrl, candidate: modernUrl, keyName: undefined },
      key: undefined,
    },
    { endpoint, method: "GET", path, keyed: false, shape: "" },
  );
  if ("failed" in outcome) throw new Error(outcome.failed);
  return outcome.differences.map(
    ({ path: at, kind, cause }) => `${kind} ${at}${kind === "unexplained" ? `: ${cause}` : ""}`,
  );
};

describe("an answer that would not be served is unexplained, whatever the ledger allows", () => {
  const unserved = "served: would not be served";

  test("a shadow counts a router's 404", async () => {
    expect(await shadowed(router)).toEqual({ allowed: 0, unexplained: 3, shown: [unserved] });
  });

  test("a shadow counts a router's 404 where the ledger allows everything", async () => {
    expect(await shadowed(router, [lenient])).toEqual({ allowed: 0, unexplained: 3, shown: [unserved] });
  });

  test("a shadow takes the endpoint's own problem for what is expected", async () => {
    expect(await shadowed(itsOwn)).toEqual({ allowed: 3, unexplained: 0, shown: [] });
  });

  test("--check fails for a router's 404", async () => {
    expect(await checked(router)).toMatch(/^FAIL .*would not be served \(its 404 is no answer of this endpoint\)$/);
  });

  test("--check is content with the endpoint's own problem", async () => {
    expect(await checked(itsOwn)).toMatch(/^ok .*as expected/);
  });

  test.each([
    ["the new implementation", true],
    ["another gateway", false],
  ])("a comparison with %s shows it", async (_, isModern) => {
    expect(await compared(router, { isModern })).toEqual(["expected /detail", `unexplained ${unserved}`]);
  });

  test("another gateway's own errors are equal", async () => {
    const given = { status: 404, body: { detail: "Flow not found." } };
    expect(await compared(given, { isModern: false })).toEqual([]);
  });

  test("an answer that is equal is equal, whatever its code", async () => {
    const given = { status: 404, body: { detail: { code: "111", message: "Unknown dataset" } } };
    const about = { isModern: true, path: "/datasets/1000000", endpoint: "getDataset" } as const;
    expect(await compared(given, about)).toEqual([]);
  });

  test("a list of measures as a problem is not served", async () => {
    const legacyUrl = (await sides(router)).legacyUrl;
    const gateway = await gatewayFor(legacyUrl);
    onTestFinished(gateway.close);
    const body: unknown = await (await gateway.app.request("/v1/evaluationmeasures/list")).json();
    const about = { isModern: true, path: "/evaluationmeasures/list", endpoint: "listEvaluationMeasures" } as const;
    expect(await compared({ status: 200, type: PROBLEM, body }, about)).toEqual([
      "expected content-type",
      `unexplained ${unserved}`,
    ]);
    expect(await compared({ status: 200, type: `${JSON_TYPE}; charset=utf-8`, body }, about)).toEqual([]);
  });

  test("no entry of the ledger can be about it", () => {
    const parsed = entrySchema.safeParse({ ...lenient, path: "served" });
    expect(parsed.error?.issues.map(({ message }) => message)).toEqual([
      "an answer that would not be served is never expected",
    ]);
  });
});
