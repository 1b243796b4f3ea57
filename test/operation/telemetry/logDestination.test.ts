import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { openLogDestination } from "../../../src/operation/telemetry/logDestination.ts";
import { until } from "../../support/waiting.ts";
import { openPipe } from "./support.ts";

test("without a reader a bounded part waits; newer lines are dropped and counted", async () => {
  const pipe = openPipe();
  pipe.fill();
  // Dropped lines are logged by the destination itself, as the observer does it.
  const log = openLogDestination(pipe.writer(), (lines) => log.write(`dropped ${lines}\n`), { maxBytes: 10_000 });
  const line = (i: number) => `${String(i).padStart(98, "0")}\n`;
  for (let i = 0; i < 100_000; i++) log.write(line(i));
  expect(log.dropped()).toBe(100_000 - Math.floor(10_000 / 99));
  let text = "";
  await until(() => (text += pipe.read()).includes("dropped"));
  const lines = text.replace(/^x*/, "").split("\n");
  expect(lines.slice(0, -2)).toEqual(Array.from({ length: 101 }, (_, i) => line(i).trim()));
  expect(lines.at(-2)).toBe(`dropped ${log.dropped()}`);
  log.write("afterwards\n");
  await until(() => (text += pipe.read()).endsWith("afterwards\n"));
});

test("a line of which a full pipe takes a part is completed, not sent again", async () => {
  const pipe = openPipe();
  const log = openLogDestination(pipe.writer(), () => undefined);
  const lines = ["a", "b"].map((letter) => `${letter.repeat(40_000)}\n`);
  for (const line of lines) log.write(line);
  let text = "";
  await until(() => (text += pipe.read()).length >= 80_002);
  expect(text).toBe(lines.join(""));
});

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
