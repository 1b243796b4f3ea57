import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const run = (tool: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, `../../src/tools/${tool}/main.ts`), ...args], {
    encoding: "utf8",
  });

test.each(["docs", "kit", "client"])("%s helps where it is asked to, and does nothing else", (tool) => {
  const help = run(tool, "--help");
  expect(help.status).toBe(0);
  expect(help.stdout).toMatch(/^npm run /);
  const refused = run(tool, "--force");
  expect([refused.status, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toBe("--force: unknown option; allowed is --help\n");
});
