import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PrivateRowsView } from "../../src/privateRows/state.ts";
import { start } from "../gateway/support.ts";
import { type Bed, openBed } from "./bed.ts";
import { eventually } from "./eventually.ts";
import { administrator, nobody, owner, user } from "./people.ts";
import { rows } from "./through.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

const directory = () => mkdtempSync(join(tmpdir(), "private-rows-"));

/** The program as an operator starts it, and what they see of the walk. */
const gateway = async (environment: Record<string, string>) => {
  const program = start({
    LEGACY_URL: bed.url,
    LOG_LEVEL: "debug",
    LEGACY_ADMIN_KEY: administrator.key,
    PRIVATE_WALK_RATE: "1000",
    ...environment,
  });
  const url = await program.listening();
  const admin = /operators: (\S+)/.exec(program.output.out)?.[1] as string;
  const state = async () =>
    ((await (await fetch(`${admin}/cache`)).json()) as { privateRows: PrivateRowsView }).privateRows;
  const list = async (key?: string) => {
    const answer = await fetch(`${url}/v1/data/list/status/all${key === undefined ? "" : `?api_key=${key}`}`);
    return ((await answer.json()) as { did: number }[]).map(({ did }) => did);
  };
  const end = (signal: "SIGTERM" | "SIGKILL") => {
    program.child.kill(signal);
    return program.ended;
  };
  return { ...program, state, list, end, isComplete: async () => (await state()).state === "complete" };
};

test.each(["SIGTERM", "SIGKILL"] as const)("a walk that was ended by %s goes on where it was", async (signal) => {
  bed.use(rows);
  const DATA_DIR = directory();
  const first = await gateway({ DATA_DIR, PRIVATE_WALK_RATE: "10" });
  expect(first.output.out).toContain("private datasets are looked for");
  // It is on the disk two seconds after it was found at the latest.
  await eventually(() => {
    try {
      return (
        (JSON.parse(readFileSync(join(DATA_DIR, "private-rows.json"), "utf8")) as { rows: unknown[] }).rows.length === 2
      );
    } catch {
      return false;
    }
  });
  await first.end(signal);
  const { walk } = JSON.parse(readFileSync(join(DATA_DIR, "private-rows.json"), "utf8")) as {
    walk: { checkedUpTo: number };
  };
  expect(walk.checkedUpTo).toBeGreaterThanOrEqual(5);
  expect(statSync(join(DATA_DIR, "private-rows.json")).mode & 0o77).toBe(0);

  const second = await gateway({ DATA_DIR });
  expect((await second.state()).rows).toBeGreaterThanOrEqual(2);
  await eventually(() => second.isComplete());
  expect(await second.list(administrator.key)).toEqual([2, 3, 5, 6, 9]);
  await second.end("SIGTERM");
  // The ids that were looked at once, and belong to nothing, are not looked at again.
  expect((await gateway({ DATA_DIR })).output.error).toBe("");
});

test("a complete index is there at the next start, and its lists with it", async () => {
  bed.use(rows);
  const DATA_DIR = directory();
  const first = await gateway({ DATA_DIR });
  await eventually(() => first.isComplete());
  expect(await first.end("SIGTERM")).toBe(0);
  const second = await gateway({ DATA_DIR, PRIVATE_WALK_RATE: "1" });
  expect(await second.state()).toMatchObject({ state: "complete", rows: 3, kept: "directory", walksHere: true });
  expect(await second.list(administrator.key)).toEqual([2, 3, 5, 6, 9]);
  expect(await second.list(owner.key)).toEqual([2, 3, 9]);
});

test("what is no index of ours is told, and made anew; a directory that cannot be used stops the start", async () => {
  bed.use(rows);
  const DATA_DIR = directory();
  writeFileSync(join(DATA_DIR, "private-rows.json"), '{"format": 1, "rows": [{"id": "x"}]}');
  const one = await gateway({ DATA_DIR });
  await eventually(() => one.isComplete());
  expect(one.output.error).toContain("private_index_store_unreadable");
  const other = start({ LEGACY_URL: bed.url, LEGACY_ADMIN_KEY: administrator.key, DATA_DIR });
  expect(await other.ended).toBe(2);
  expect(other.output.error).toMatch(/^DATA_DIR: .* cannot be used: another process uses it/);
});

test("no key is in anything it writes or shows", async () => {
  bed.use(rows);
  const DATA_DIR = directory();
  const one = await gateway({ DATA_DIR });
  await eventually(() => one.isComplete());
  for (const { key } of [administrator, owner, user, nobody]) await one.list(key);
  const shown = JSON.stringify(await one.state());
  await one.end("SIGTERM");
  const written = readFileSync(join(DATA_DIR, "private-rows.json"), "utf8");
  for (const { key } of [administrator, owner, user])
    expect(shown + written + one.output.out + one.output.error).not.toContain(key);
});

test("--check asks legacy about the key", async () => {
  const check = async (key: string) => {
    const { ended, output } = start({ LEGACY_URL: bed.url, LEGACY_ADMIN_KEY: key }, "--check");
    return { code: await ended, row: /^.*LEGACY_ADMIN_KEY.*$/m.exec(output.out)?.[0] };
  };
  expect((await check(administrator.key)).row).toMatch(/^ok .*accepted$/);
  expect((await check("n0b0dys")).row).toMatch(/^FAIL .*Authentication failed$/);
  expect((await check("")).row).toMatch(/^ok .*not set/);
});
