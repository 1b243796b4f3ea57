import { spawn } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { watchProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const root = join(import.meta.dirname, "../..");

test("src and transforms alone serve, pass through, and tell how they are", async () => {
  const copy = temporaryFolder();
  for (const part of ["src", "transforms", "package.json", "package-lock.json"])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const legacy = await startSampleLegacy();
  onTestFinished(legacy.close);
  const { PATH } = process.env;
  const quiet = { PORT: "0", ADMIN_PORT: "0", DRAIN_DELAY_MS: "0", LOG_LEVEL: "silent" };
  const env = { PATH, ...quiet, CACHE_LEGACY: "all", LEGACY_URL: legacy.url };
  const program = watchProgram(
    spawn(process.execPath, ["src/thin.ts"], { cwd: copy, env, stdio: ["ignore", "pipe", "pipe"] }),
  );
  const url = await program.listening();
  const operators = /operators: (\S+)/.exec(program.output.out)?.[1] ?? "";
  const answers = await Promise.all(
    [`${url}/v1/datasets/61`, `${url}/api/v1/json/data/61`, `${operators}/healthz`, `${operators}/readyz`].map(
      async (target) => {
        const answer = await fetch(target);
        return [answer.status, await answer.json()];
      },
    ),
  );
  expect(answers).toEqual([
    [200, expect.objectContaining({ id: 61 })],
    [200, { data_set_description: expect.objectContaining({ id: "61" }) as object }],
    [200, { status: "ok" }],
    [200, { status: "ready" }],
  ]);
  const again = await fetch(`${url}/api/v1/json/data/61`);
  expect(again.headers.get("cache-status")).toMatch(/^catalog-gateway; hit/);
  const metrics = await fetch(`${operators}/metrics`);
  expect(await metrics.text()).toMatch(/^catalog_gateway_build_info\{version="[^"]+",build="[\w-]{16}",/m);
  program.child.kill();
  expect(await program.ended).toBe(0);
});
