import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSupervisor } from "../../src/workers/supervisor.ts";
import type { WorkerProcess } from "../../src/workers/workerProcess.ts";
import { until } from "../support/waiting.ts";

const open = () => {
  const workers = new Set<WorkerProcess>();
  const events: [name: string, details: Record<string, unknown> | undefined][] = [];
  const supervisor = openSupervisor({
    workers,
    count: 1,
    exec: join(import.meta.dirname, "minimalWorker.mjs"),
    args: [],
    observer: { event: (name, details) => void events.push([name, details]) },
    onStarted: () => undefined,
    onEnded: () => undefined,
    onHopeless: () => events.push(["hopeless", undefined]),
  });
  const names = () => events.map(([name]) => name);
  onTestFinished(async () => {
    supervisor.stop("SIGKILL");
    await supervisor.end(0);
  });
  return { workers, supervisor, names };
};

const { execPath } = process;
/** Makes processes impossible: the first fails after `fork` has returned, as with EAGAIN, the other throws. */
const impossible = ["/does/not/exist", "a\0b"];
const breakSpawn = (path: string) => {
  process.execPath = path;
  onTestFinished(() => void (process.execPath = execPath));
};

test.each(impossible)("a worker that cannot be spawned stops the start (%j)", async (path) => {
  const { supervisor, workers, names } = open();
  breakSpawn(path);
  expect(await supervisor.start()).toBeUndefined();
  expect(workers.size).toBe(0);
  expect(names()).toEqual(["worker_not_spawned"]);
});

test.each(impossible)("a worker that cannot be spawned is tried again (%j)", async (path) => {
  const { supervisor, workers, names } = open();
  expect(await supervisor.start()).toBe(8000);
  breakSpawn(path);
  for (const worker of workers) worker.signal("SIGKILL");
  await until(() => names().includes("worker_not_spawned"));
  process.execPath = execPath;
  await until(() => names().includes("worker_replaced"));
  expect(names()[0]).toBe("worker_ended");
  expect(names()).not.toContain("hopeless");
  expect(workers.size).toBe(1);
});

test("a worker that dies during the stop has an event of its own", async () => {
  const { supervisor, workers, names } = open();
  await supervisor.start();
  for (const worker of workers) worker.signal("SIGSTOP");
  supervisor.stop("SIGTERM");
  const ended = supervisor.end(5000);
  for (const worker of workers) worker.signal("SIGKILL");
  expect(await ended).toBe(false);
  expect(names()).toEqual(["worker_stop_failed"]);
});

test("workers that stop leave no event", async () => {
  const { supervisor, names } = open();
  await supervisor.start();
  supervisor.stop("SIGTERM");
  expect(await supervisor.end(5000)).toBe(true);
  expect(names()).toEqual([]);
});
