import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { StageView } from "../../../features/migration/migration.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { start } from "../../gateway/answer/support.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";
import { migrationOf } from "./support.ts";

const MODERN_URL = "http://127.0.0.1:1";

test("the configuration file is read again when it changes and at SIGHUP", async () => {
  const CONFIG = join(temporaryFolder(), "gateway.json");
  const write = (content: unknown) => {
    writeFileSync(`${CONFIG}.new`, typeof content === "string" ? content : JSON.stringify(content));
    renameSync(`${CONFIG}.new`, CONFIG);
  };
  write({ STAGES: { getDataset: { stage: "shadow" } } });
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const program = start({ LEGACY_URL: legacy.url, MODERN_URL, LOG_LEVEL: "info", CONFIG });
  await program.listening();
  const { output, child } = program;
  const admin = /operators: (\S+)/.exec(output.out)?.[1];
  const stage = async () => (await (await fetch(`${admin}/stages/getDataset`)).json()) as StageView;
  expect((await stage()).stage).toBe("shadow");
  await until(() => output.out.includes("stages: getDataset shadow, 100 % mirrored; all others legacy"));
  write({ STAGES: { getDataset: { stage: "canary", share: 5 } }, MAX_CONNECTIONS: 10 });
  await until(async () => (await stage()).stage === "canary");
  expect(await stage()).toMatchObject({ share: 5, by: "configuration" });
  await until(() => output.error.includes('"event":"restart_needed","settings":["MAX_CONNECTIONS"]'));
  for (const [wrong, message] of [
    ["{", "is not valid JSON"],
    [{ STAGES: { getNothing: { stage: "shadow" } } }, "STAGES: unknown endpoint"],
    [{ EXPECTED_DIFFERENCES: "/nowhere/at/all" }, "or reference: it cannot be read (ENOENT)"],
  ] as const) {
    write(wrong);
    child.kill("SIGHUP");
    await until(() => output.error.includes(message));
    expect(await stage()).toMatchObject({ stage: "canary", share: 5 });
  }
  write({ STAGES: { getDataset: { stage: "legacy" } }, TRUSTED_PROXIES: "0.0.0.0/0" });
  child.kill("SIGHUP");
  await until(async () => (await stage()).stage === "legacy");
  await until(() => output.error.includes('"warnings":["TRUSTED_PROXIES: 0.0.0.0/0 given'));
});

test("a ledger that cannot be read stops the start", async () => {
  const refused = gatewayFor("http://127.0.0.1:1", { EXPECTED_DIFFERENCES: "/nowhere/at/all" });
  await expect(refused).rejects.toThrow(
    'EXPECTED_DIFFERENCES: "/nowhere/at/all" given in the environment; allowed is the path of a JSON list of entries, or reference: it cannot be read (ENOENT)',
  );
});

test("no difference is expected by default; `reference` is the shipped ledger", async () => {
  for (const [environment, first] of [
    [{}, undefined],
    [{ EXPECTED_DIFFERENCES: "reference" }, "reference-errors-content-type"],
  ] as const) {
    const gateway = await gatewayFor("http://127.0.0.1:1", environment);
    onTestFinished(gateway.close);
    expect(migrationOf(gateway).comparisons.ledger.entries()[0]?.id).toBe(first);
  }
});
