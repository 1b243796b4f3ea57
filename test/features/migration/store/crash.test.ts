import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { at, moveOn } from "./moves.ts";
import { openFile, temporaryDirectory } from "./support.ts";

/** A process that moves on and on, after its first move. `last`: the last one that it was told is kept. */
const startMoving = async (directory: string) => {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, "movingChild.ts"), directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  onTestFinished(() => void child.kill("SIGKILL"));
  const isOver = once(child, "close");
  await Promise.race([once(child.stdout as NodeJS.EventEmitter, "data"), isOver]);
  return {
    async kill() {
      child.kill("SIGKILL");
      // All that it wrote is read by then.
      await isOver;
    },
    last: () => Number(text.trimEnd().split("\n").at(-1)),
  };
};

test("whenever the process is killed, what was acknowledged is there, whole", async () => {
  const directory = temporaryDirectory();
  let before = 0;
  for (let i = 0; i < 16; i++) {
    const child = await startMoving(directory);
    await new Promise((resolve) => setTimeout(resolve, i * 1.7));
    await child.kill();
    expect(child.last()).toBeGreaterThan(before);
    const store = await openFile(directory);
    const { audit, stages } = store.state();
    // One more may be on the disk whose acknowledgement was cut off.
    expect([child.last(), child.last() + 1]).toContain(audit.length);
    expect(audit.map((move) => move.at)).toEqual(audit.map((_, k) => at(audit.length - k)));
    for (const move of audit.slice(0, 7)) expect(stages[move.endpoint]?.since).toBe(move.at);
    await store.close();
    before = child.last();
  }
});

test("a process that runs keeps others out of its directory; one that was killed does not", async () => {
  const directory = temporaryDirectory();
  const child = await startMoving(directory);
  await expect(openFile(directory)).rejects.toThrow("another process uses it");
  await child.kill();
  const store = await openFile(directory);
  expect(await moveOn(store, "listThings", 1)).toBe(true);
});
