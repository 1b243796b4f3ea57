import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { watchProgram } from "../support/program.ts";
import { until } from "../support/waiting.ts";
import { plantedFaults } from "./plantedFaults.ts";

test("the demo finds every planted fault, on one screenful, until Ctrl-C", async () => {
  const { child, output, ended } = watchProgram(
    spawn(process.execPath, ["test/demo/main.ts", "--rate", "200"], {
      env: { ...process.env, PORT: "0", ADMIN_PORT: "0" },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  await until(() => output.out.includes("Ctrl-C ends it."));
  const text = output.out;
  const lines = text.trimEnd().split("\n");
  expect(lines.length).toBeLessThan(24);
  expect(lines.every((line) => line.length <= 110)).toBe(true);
  for (const { means } of plantedFaults) expect(text).toContain(means);
  expect(text).toContain(`${plantedFaults.length} of ${plantedFaults.length} found`);
  const [, page = ""] = /page: (\S+)/.exec(text) ?? [];
  const shown = await (await fetch(page, { headers: { Connection: "close" } })).text();
  expect(shown).toMatch(/<h1>\s*<a href="#stage-\w+">/);
  expect(shown).toContain("catalogue-client/0.14.2");
  child.kill("SIGINT");
  expect(await ended).toBe(0);
});
