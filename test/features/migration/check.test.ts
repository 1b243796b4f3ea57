import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type LedgerEntry, ledgerOf } from "../../../libraries/compare/ledger.ts";
import { check } from "../../../tools/check.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { startStandIn } from "../../standIn/startStandIn.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { until } from "../../support/waiting.ts";
import { operatorsOf } from "../console/page/operators.ts";
import { known, migrationOf } from "./support.ts";

const shipped = ledgerOf("reference", catalogue.expectedDifferences);
const lenient: LedgerEntry = { ...known, endpoint: "*", path: "/**", kind: "*" };

let legacy: Awaited<ReturnType<typeof startSampleLegacy>>;
beforeAll(async () => {
  legacy = await startSampleLegacy();
});
afterAll(() => legacy.close());

/** A stand-in for modern, until the test ends. */
const standIn = async (about: Omit<Parameters<typeof startStandIn>[0], "legacyUrl">) => {
  const modern = await startStandIn({ legacyUrl: legacy.url, ...about });
  onTestFinished(() => modern.close());
  return modern;
};

/** A new implementation that gives all requests the same answer. */
const answering = (status: number, type: string, body: object) =>
  httpUpstream((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(status, { "Content-Type": type }).end(JSON.stringify(body));
    });
  });
const router = () => answering(404, "application/json", { detail: "Not Found" });
const itsOwn = () =>
  answering(404, "application/problem+json", { type: "https://x/flow-not-found", detail: "No such flow." });

/** The lines of `--check` about the new implementation, and its verdict. */
const checked = async (
  MODERN_URL: string,
  {
    expected = shipped,
    stages = {},
    strict = false,
    environment = {},
  }: { expected?: LedgerEntry[]; stages?: object; strict?: boolean; environment?: Record<string, string> } = {},
) => {
  const settings = { MODERN_URL, STAGES: JSON.stringify(stages), ...environment };
  const gateway = await gatewayFor(legacy.url, settings, { isCheck: true, expected });
  onTestFinished(gateway.close);
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const { ready } = await check(gateway, {
    settings: gateway.core.settings,
    strict,
    print,
    parts: gateway.features.checks,
    off: gateway.off,
  });
  return { ready, text: lines.join("\n") };
};

describe("--check", () => {
  test("--check says where legacy only checks keys", async () => {
    const { url } = await standIn({});
    const stages = Object.fromEntries(Object.keys(catalogue.endpoints).map((name) => [name, { stage: "modern" }]));
    const BROWNOUTS = JSON.stringify([{ path: "/", from: "2026-01-01T00:00:00Z", status: 410 }]);
    const { text } = await checked(url, { stages, environment: { BROWNOUTS } });
    expect(text).toMatch(/^ok +CACHE_LEGACY +legacy only checks keys: no endpoint needs it/m);
    expect((await checked(url, { stages })).text).not.toContain("only checks keys");
  });

  test("--check asks both sides; --strict fails for an ended or idle ledger entry", async () => {
    const expected = [
      { ...known, id: "ended", until: "2020-01-01" },
      { ...known, id: "never" },
    ];
    const { url } = await standIn({});
    const usual = await checked(url, { expected });
    expect([usual.ready, usual.text]).toEqual([true, expect.stringContaining("ok    modern getDataset first")]);
    expect(usual.text).toContain("ended: it ended on 2020-01-01");
    const strict = await checked(url, { expected, strict: true });
    expect([strict.ready, strict.text]).toEqual([
      false,
      expect.stringMatching(/FAIL .*ended: it ended on 2020-01-01\nFAIL .*never: it allows nothing/),
    ]);
  });

  test("--check fails for a wrong modern that answers callers, else it notes it", async () => {
    const extra = (endpoint: string) => ({ endpoint, fault: "extraField", path: "/colour" }) as const;
    const wrong = await standIn({ faults: ["getDataset", "getSetup", "getTaskType"].map(extra) });
    const stages = { getDataset: { stage: "canary", share: 5 }, getSetup: { stage: "modern" } };
    const { ready, text } = await checked(wrong.url, { stages, expected: [] });
    expect(ready).toBe(false);
    expect(text).toMatch(/^FAIL {2}modern getDataset first +extra at \/colour$/m);
    expect(text).toMatch(/^FAIL {2}modern getSetup first +extra at \/colour$/m);
    expect(text).toMatch(/^note {2}modern getTaskType classification +extra at \/colour$/m);
    // Both sides are asked once for each example, whatever the stages are: nothing is mirrored.
    expect(wrong.asked()).toMatchObject({ getDataset: 2, getSetup: 2 });
  });

  test("--check is READY if modern fails but answers no caller, unless --strict is set", async () => {
    const stages = { getDataset: { stage: "shadow" } };
    const { ready, text } = await checked("http://127.0.0.1:1", { stages });
    expect([ready, text]).toEqual([true, expect.stringMatching(/^note {2}modern getDataset first +\S/m)]);
    const strict = await checked("http://127.0.0.1:1", { stages, strict: true });
    expect([strict.ready, strict.text]).toEqual([false, expect.stringMatching(/^FAIL {2}modern getDataset first/m)]);
  });

  test("--check accepts the differences in the reference implementation's ledger", async () => {
    const { ready, text } = await checked((await standIn({ reference: true })).url);
    expect([ready, text]).toEqual([true, expect.not.stringContaining("FAIL")]);
    expect(text).toMatch(/^ok {4}modern /m);
  });

  test("--check fails for a router's 404, and accepts the endpoint's own problem", async () => {
    const stages = { findFlow: { stage: "modern" } };
    const rowOf = async (url: string) =>
      /^.*modern findFlow unknown.*$/m.exec((await checked(url, { stages })).text)?.[0];
    expect(await rowOf(await router())).toMatch(
      /^FAIL .*would not be served \(its 404 is no answer of this endpoint\)$/,
    );
    expect(await rowOf(await itsOwn())).toMatch(/^ok .*as expected/);
  });
});

test.each([
  ["counts a router's 404", router, shipped, 3],
  ["counts a router's 404 where the ledger allows everything", router, [lenient], 3],
  ["takes the endpoint's own problem for what is expected", itsOwn, shipped, 0],
])("a shadow %s", async (_, modern, expected, unexplained) => {
  const environment = { MODERN_URL: await modern(), STAGES: '{"findFlow":{"stage":"shadow"}}' };
  const gateway = await gatewayFor(legacy.url, environment, { expected, times: { recheck: 5, look: 20 } });
  onTestFinished(gateway.close);
  for (let i = 0; i < 3; i++) await gateway.app.request(`/v1/flow/exists/no-such-flow/${i}`);
  const migration = migrationOf(gateway);
  await until(() => migration.viewOf("findFlow").parity.compared === 3);
  expect(migration.viewOf("findFlow").parity).toMatchObject({ expected: 3 - unexplained, unexplained });
  const shown = migration.comparisons.differences.view("unexplained").map(({ path, cause }) => `${path}: ${cause}`);
  expect(shown).toEqual(unexplained === 0 ? [] : ["served: would not be served"]);
  // No entry of the ledger could allow it.
  expect(await (await operatorsOf({ gateway })).markup()).not.toContain("entry for the ledger");
});
