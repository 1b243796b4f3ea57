import { execFile } from "node:child_process";
import { expect, test } from "vitest";

const run = (...args: string[]) =>
  new Promise<{ code: unknown; out: string; error: string }>((resolve) => {
    execFile(process.execPath, ["test/restarts/main.ts", ...args], (failure, out, error) =>
      resolve({ code: failure?.code ?? 0, out, error }),
    );
  });

test("npm run check:restarts has a help, and refuses what it does not know", async () => {
  const [help, value, name] = await Promise.all([run("--help"), run("--rounds", "0"), run("--onyl")]);
  expect([help.code, help.out]).toEqual([0, expect.stringContaining("--rounds N")]);
  expect([value.code, value.error]).toEqual([
    2,
    expect.stringMatching(/^--rounds: "0" given; allowed is an integer from 1 to 1000\n/),
  ]);
  expect([name.code, name.error]).toEqual([2, expect.stringContaining("--onyl")]);
});
