import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fileStore } from "../../../../src/features/privateDatasets/store/fileStore.ts";
import { temporaryDirectory } from "../../migration/store/support.ts";
import { scope } from "./rows.ts";
import { openWith } from "./support.ts";

/** A process that learns on and on, after its first row. */
const startSaving = async (directory: string) => {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, "savingChild.ts"), directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const isOver = once(child, "close");
  await Promise.race([once(child.stdout as NodeJS.EventEmitter, "data"), isOver]);
  child.stdout?.resume();
  return {
    async kill() {
      child.kill("SIGKILL");
      await isOver;
    },
  };
};

test("whenever the process is killed, what is there is whole", async () => {
  const directory = temporaryDirectory();
  let most = 0;
  for (let i = 0; i < 7; i++) {
    const child = await startSaving(directory);
    await new Promise((resolve) => setTimeout(resolve, 20 + i * 9.3));
    await child.kill();
    const { store, known, events } = await openWith(fileStore({ directory, scope }));
    const { rows, walk } = known();
    expect([events, rows.map(({ id }) => id)]).toEqual([[], rows.map((_, k) => k + 1)]);
    expect(walk.checkedUpTo).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(most);
    most = rows.length;
    await store.close();
  }
  expect(most).toBeGreaterThan(0);
});

test("a process that runs keeps others out of its directory; one that was killed does not", async () => {
  const directory = temporaryDirectory();
  const child = await startSaving(directory);
  await expect(openWith(fileStore({ directory, scope }))).rejects.toThrow(
    `DATA_DIR: ${directory} cannot be used: another process uses it and holds ${directory}/private-rows.lock; allowed is one gateway a directory`,
  );
  await child.kill();
  await openWith(fileStore({ directory, scope }));
});
