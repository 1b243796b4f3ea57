import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openLogDestination } from "../../../src/operation/telemetry/logDestination.ts";
import { openPipe } from "./support.ts";
import { until } from "../../support/waiting.ts";

/** A destination that logs dropped lines in itself, as the observer does. */
const reporting = (fd: number, maxBytes?: number) => {
  const destination = openLogDestination(
    fd,
    (lines) => destination.write(`dropped ${lines}\n`),
    maxBytes === undefined ? {} : { maxBytes },
  );
  return destination;
};

test("without a reader a bounded part waits; newer lines are dropped and counted", async () => {
  const pipe = openPipe();
  pipe.fill();
  const log = reporting(pipe.writer(), 10_000);
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

test("each line comes whole and once or is counted, however writes and reads alternate", async () => {
  const turn = fc.oneof(
    fc.constant("read" as const),
    fc.constant("wait" as const),
    fc.integer({ min: 1, max: 40_000 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { minLength: 1, maxLength: 20 }),
      fc.constantFrom(0, 20),
      async (turns, delayMs) => {
        const pipe = openPipe();
        const log = openLogDestination(pipe.writer(), () => undefined, { maxBytes: 100_000, delayMs });
        let text = "";
        let written = 0;
        for (const each of turns) {
          if (each === "read") text += pipe.read();
          else if (each === "wait") await new Promise((resolve) => void setTimeout(resolve, 5));
          else log.write(`${written++} ${"y".repeat(each)}\n`);
        }
        await until(() => (text += pipe.read()).split("\n").length - 1 + log.dropped() === written);
        const numbers = text
          .split("\n")
          .slice(0, -1)
          .map((line) => Number(/^(\d+) y+$/.exec(line)?.[1]));
        expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      },
    ),
    // Each of them listens for the end of the process, and node:events warns from the eleventh on.
    { numRuns: 5 },
  );
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
