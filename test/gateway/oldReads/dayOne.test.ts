import { describeOldReads } from "../../../src/gateway/oldReads/describeOldReads.ts";
import { expect, onTestFinished, test } from "vitest";
import { check } from "../../../tools/check.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { gatewayFor } from "../../support/gateway.ts";

/** The lines of `--check` and of the start about the setting. */
const said = async (environment: Record<string, string>) => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const gateway = await gatewayFor(legacy.url, { ADMIN_PORT: "0", ...environment }, { isCheck: true });
  onTestFinished(gateway.close);
  const lines: string[] = [];
  await check(gateway, {
    settings: gateway.core.settings,
    strict: false,
    parts: gateway.features.checks,
    off: gateway.off,
    print: (text) => void lines.push(text),
  });
  return {
    checked: lines.filter((text) => text.includes("CACHE_LEGACY")),
    started: [describeOldReads(gateway.core)],
  };
};

test.each([
  ["all", "all reads of old clients come from the cache, and still do while legacy is down"],
  ["getDataset", "reads of 1 endpoint of old clients come from the cache, and still do while legacy is down"],
])("with CACHE_LEGACY=%s the start and --check say what it brings", async (CACHE_LEGACY, line) => {
  const { checked, started } = await said({ CACHE_LEGACY });
  expect(checked).toEqual([`ok    CACHE_LEGACY               ${line}`]);
  expect(started).toContain(line);
});

test("without CACHE_LEGACY --check says what old clients get", async () => {
  expect((await said({})).checked).toEqual([
    "ok    CACHE_LEGACY               old clients get only errors while legacy is down: CACHE_LEGACY is not set",
  ]);
});
