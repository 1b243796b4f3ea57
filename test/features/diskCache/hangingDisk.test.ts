import { expect, test } from "vitest";
import { alice, markOf } from "../../gateway/cache/support.ts";
import { asking } from "../../gateway/http/support.ts";
import { openTrouble, startNode } from "../../libraries/stores/troubledProcess.ts";
import { fakeLegacy } from "../../support/fakeLegacy.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";
import { MiB } from "./support.ts";

const path = "/v1/datasets/61";

/** A gateway in a process, whose disk a test troubles, and another on the same directory. */
const opened = async () => {
  const disk = openTrouble();
  const legacy = await fakeLegacy();
  const settings = {
    LEGACY_URL: legacy.url,
    DATA_DIR: temporaryFolder(),
    CACHE_DISK_BYTES: `${64 * MiB}`,
    CACHE_BYTES: "40000",
    LOG_LEVEL: "info",
    DOCUMENTS: "false",
  };
  const start = async (option?: string, blocks?: number) => {
    const program = startNode([...(option === undefined ? [] : [option]), "src/main.ts"], settings, blocks);
    const ask = asking(await program.listening());
    const admin = /operators: (\S+)/.exec(program.output.out)?.[1] as string;
    /** The number of calls of the disk with this result. */
    const calls = async (call: string, result: string) => {
      const page = await (await fetch(`${admin}/metrics`)).text();
      return Number(new RegExp(`disk_cache_calls_total\\{call="${call}",result="${result}"\\} (\\d+)`).exec(page)?.[1]);
    };
    let others = 1000;
    return {
      ...program,
      ask,
      calls,
      readiness: async () => (await fetch(`${admin}/readyz?verbose`)).text(),
      /** Reads other answers until memory has no others, and waits until the disk has these. */
      evict: async () => {
        const before = await calls("put", "stored");
        for (let i = 0; i < 25; i++) await ask(`/v1/setup/${others++}`);
        await until(async () => (await calls("put", "stored")) >= before + 25);
      },
      /** Tags the dataset; the milliseconds until the answer. */
      tag: async () => {
        const since = performance.now();
        const headers = { "Content-Type": "application/json", "X-API-Key": alice };
        const body = JSON.stringify({ data_id: 61, tag: "a" });
        expect((await ask("/v1/datasets/tag", headers, { method: "POST", body })).status).toBe(200);
        return performance.now() - since;
      },
    };
  };
  return { disk, legacy, start };
};

test("a write waits a second for a disk that hangs, which is read when it has it", async () => {
  const { disk, legacy, start } = await opened();
  const { ask, calls, evict, readiness, tag, output, child, ended } = await start(disk.option);
  await ask(path);
  await ask("/v1/datasets/62");
  await evict();
  disk.hang();
  // Once a gap.
  const [first, second] = [await tag(), await tag()];
  expect(first).toBeGreaterThan(900);
  expect(second).toBeLessThan(first);
  expect(await calls("invalidate", "late")).toBe(2);
  expect(await readiness()).toMatch(/"name":"disk_cache","state":"failed"/);
  // Not read, nor waited for.
  const hits = await calls("get", "hit");
  expect((await ask("/v1/datasets/62")).how).toMatch(/^fwd=uri-miss/);
  expect(markOf((await ask(path)).body)).toBe(`nobody ${legacy.version}`);
  expect([await calls("get", "hit"), await calls("get", "late")]).toEqual([hits, 0]);
  disk.release();
  await until(async () => /"name":"disk_cache","state":"ok"/.test(await readiness()));
  expect(output.error).toMatch(/"event":"disk_cache_lost".*\n(.*\n)*.*"event":"disk_cache_up"/);
  await evict();
  expect((await ask("/v1/datasets/62")).how).toMatch(/^hit/);
  expect(await calls("get", "hit")).toBe(hits + 1);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  // The gap is closed.
  legacy.trouble = "down";
  const next = await start();
  expect((await next.ask("/v1/datasets/62")).status).toBe(200);
  expect(next.output.error).not.toContain("disk_cache_emptied");
});

test("a disk that is known to hang is not read", async () => {
  const { disk, start } = await opened();
  const { ask, calls, evict, readiness, child, ended } = await start(disk.option);
  await ask(path);
  await ask("/v1/datasets/62");
  await evict();
  disk.hang();
  // It is to be written.
  await ask("/v1/datasets/63");
  await until(async () => /"name":"disk_cache","state":"failed"/.test(await readiness()));
  expect((await ask("/v1/datasets/62")).how).toMatch(/^fwd=uri-miss; stored/);
  expect([await calls("get", "late"), await calls("get", "hit")]).toEqual([0, 0]);
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
  disk.release();
});

test("a start after a kill in such a gap begins an empty file", async () => {
  const { disk, legacy, start } = await opened();
  const first = await start(disk.option);
  await first.ask(path);
  await first.evict();
  disk.hang();
  await first.tag();
  first.child.kill("SIGKILL");
  await first.ended;
  disk.release();
  legacy.trouble = "down";
  const next = await start();
  expect((await next.ask(path)).status).toBeGreaterThan(500);
  await until(() => next.output.error.includes('"event":"disk_cache_emptied"'));
  expect(next.output.error).toContain("a write was not written to it before the gateway ended");
  expect((await next.ask("/v1/setup/1001")).status).toBeGreaterThan(500);
});

test("a thread that has ended costs a report, and every later read and write goes on", async () => {
  const { disk, legacy, start } = await opened();
  const { ask, evict, readiness, tag, child } = await start(disk.option);
  await ask(path);
  await evict();
  disk.endThread();
  await tag();
  expect(await readiness()).toMatch(/"name":"disk_cache","state":"failed"/);
  expect(markOf((await ask(path)).body)).toBe(`nobody ${legacy.version}`);
  expect((await ask(path)).how).toMatch(/^hit/);
  child.kill("SIGKILL");
  legacy.trouble = "down";
  const next = await start();
  expect((await next.ask(path)).status).toBeGreaterThan(500);
});

test("a full disk is one trouble, and what a write took out stays out", async () => {
  const { legacy, start } = await opened();
  const { ask, calls, tag, output, child, ended } = await start(undefined, 800);
  await ask(path);
  let id = 100;
  /** Reads another answer; true if it is stored. */
  const isStored = async (): Promise<boolean> => {
    const counts = async () => [await calls("put", "stored"), await calls("put", "failed")];
    const before = await counts();
    expect((await ask(`/v1/datasets/${id++}`)).status).toBe(200);
    await until(async () => String(await counts()) !== String(before));
    return (await calls("put", "failed")) === before[1];
  };
  for (let refused = 0; refused < 4;) refused = (await isStored()) ? 0 : refused + 1;
  const { length } = output.error;
  for (const known of [100, 101, 102]) {
    expect((await ask(`/v1/datasets/${known}`)).how).toMatch(/^hit/);
    expect(await isStored()).toBe(false);
  }
  expect(await calls("get", "hit")).toBeGreaterThan(0);
  expect(output.error.slice(length)).not.toContain("disk_cache_");
  await tag();
  expect(markOf((await ask(path)).body)).toBe("nobody 2");
  child.kill("SIGKILL");
  await ended;
  legacy.trouble = "down";
  expect(markOf((await (await start()).ask(path)).body)).not.toBe("nobody 1");
});
