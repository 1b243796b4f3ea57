import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { at } from "./moves.ts";
import { openFile, temporaryDirectory } from "./support.ts";

/** Starts a process that moves on and on, kills it so many milliseconds after it began to, and gives back the last move it was told is kept. */
const crashAfter = (directory: string, ms: number): Promise<number> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "movingChild.ts"), directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      if (text === "") setTimeout(() => child.kill("SIGKILL"), ms);
      text += chunk.toString();
    });
    // All that it wrote is read by now.
    child.on("close", () => resolve(Number(text.trimEnd().split("\n").at(-1))));
  });

test("whenever the process is killed, what was acknowledged is there, whole, and the directory is free", async () => {
  const directory = temporaryDirectory();
  let before = 0;
  for (let i = 0; i < 16; i++) {
    const acknowledged = await crashAfter(directory, i * 1.7);
    expect(acknowledged).toBeGreaterThan(before);
    const store = await openFile(directory);
    const { audit, stages } = store.state();
    // One more may be on the disk whose acknowledgement was cut off.
    expect([acknowledged, acknowledged + 1]).toContain(audit.length);
    expect(audit.map((move) => move.at)).toEqual(audit.map((_, k) => at(audit.length - k)));
    for (const move of audit.slice(0, 7)) expect(stages[move.endpoint]?.since).toBe(move.at);
    await store.close();
    before = acknowledged;
  }
});
