import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import { attacks } from "./attacks/index.ts";

const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; error: string }>((resolve) => {
    execFile(process.execPath, ["test/torture/main.ts", ...args], (failure, out, error) =>
      resolve({ code: failure === null ? 0 : Number(failure.code), out, error }),
    );
  });

test("--help names every attack; an attack or a number that is not allowed is 2", async () => {
  const [help, name, value] = await Promise.all([run("--help"), run("--only", "nothing"), run("--requests", "0")]);
  for (const attack of attacks) expect(help.out).toContain(`  ${attack.name.padEnd(16)} ${attack.what}`);
  expect([name.code, name.error]).toEqual([2, expect.stringContaining("Allowed are client-framing, ")]);
  expect([value.code, value.error]).toEqual([2, expect.stringContaining("Allowed is a number from 1 to 100000000.")]);
});
