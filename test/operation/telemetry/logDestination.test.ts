import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test("all lines written before a process ends are in the log", () => {
  const program = `
    import { openLogDestination } from "./src/operation/telemetry/logDestination.ts";
    const log = openLogDestination(2, () => {}, { delayMs: 3_600_000, endMs: 60_000 });
    for (let i = 0; i < 5000; i++) log.write(i + " " + "z".repeat(90) + "\\n");`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", program], {
    encoding: "latin1",
    maxBuffer: 1e9,
  });
  expect(status).toBe(0);
  const numbers = stderr.split("\n").flatMap((line) => /^(\d+) z{90}$/.exec(line)?.[1] ?? []);
  expect(numbers).toEqual(Array.from({ length: 5000 }, (_, i) => String(i)));
});
