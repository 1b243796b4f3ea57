import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { completeDataset } from "../../../src/tools/sampleLegacy/completeDataset.ts";
import type { Walk } from "../../../src/features/privateDatasets/rows.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { PrivateRowsView } from "../../../src/features/privateDatasets/state.ts";
import { start } from "../../serve/support.ts";
import { type Bed, openBed } from "./bed.ts";
import { administrator, nobody, owner, user } from "./people.ts";
import { rows } from "./through.ts";
import { until } from "../../support/waiting.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());

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

/** What is on the disk, when no process has it. */
const keptIn = (place: string): { rows: unknown[]; walk: Walk } => {
  const database = new DatabaseSync(join(place, "private-rows.sqlite"));
  const records = database.prepare("SELECT key, value FROM records ORDER BY key").all();
  database.close();
  const values = new Map(records.map(({ key, value }) => [key, JSON.parse(String(value))]));
  const walk = values.get("walk") as Walk;
  values.delete("walk");
  return { rows: [...values.values()], walk };
};

test("a walk goes on where it was when the process was killed", async () => {
  bed.use([...rows, completeDataset({ id: 150, name: "last" })]);
  const DATA_DIR = temporaryFolder();
  const first = await gateway({ DATA_DIR, PRIVATE_WALK_RATE: "20" });
  await until(() => first.output.out.includes("private datasets are looked for"));
  // What is found is on the disk a moment later.
  const log = join(DATA_DIR, "private-rows.sqlite-wal");
  await until(() => existsSync(log) && /"checkedUpTo":\d\d/.test(readFileSync(log, "latin1")));
  await first.end("SIGKILL");
  const kept = keptIn(DATA_DIR);
  expect(kept).toMatchObject({ rows: [{ id: 3 }, { id: 5 }, { id: 6 }] });
  expect(statSync(join(DATA_DIR, "private-rows.sqlite")).mode & 0o77).toBe(0);

  const second = await gateway({ DATA_DIR });
  await until(() => second.isComplete());
  expect(await second.list(administrator.key)).toEqual([2, 3, 5, 6, 9, 150]);
  // A page of the list, the known rows once more, and of the others those that were not looked at: up to a hundred beyond the highest.
  const { calls } = await second.state();
  expect(calls).toBe(1 + 3 * 2 + (250 - kept.walk.checkedUpTo - 1));
});

test("an unreadable index is made anew; an unusable directory stops the start", async () => {
  bed.use(rows);
  const DATA_DIR = temporaryFolder();
  writeFileSync(join(DATA_DIR, "private-rows.sqlite"), "no database\n".repeat(100));
  const one = await gateway({ DATA_DIR });
  await until(() => one.isComplete());
  expect(one.output.error).toContain("private_index_store_unreadable");
  const other = start({ LEGACY_URL: bed.url, LEGACY_ADMIN_KEY: administrator.key, DATA_DIR });
  expect(await other.ended).toBe(2);
  expect(other.output.error).toMatch(/^DATA_DIR: .* cannot be used: another process uses it/);
});

test("a complete index survives a restart, without any key in it, for the same legacy", async () => {
  bed.use(rows);
  const DATA_DIR = temporaryFolder();
  const first = await gateway({ DATA_DIR });
  await until(() => first.isComplete());
  for (const { key } of [administrator, owner, user, nobody]) await first.list(key);
  const shown = JSON.stringify(await first.state());
  expect(await first.end("SIGTERM")).toBe(0);
  const written = readFileSync(join(DATA_DIR, "private-rows.sqlite"), "latin1");
  for (const { key } of [administrator, owner, user])
    expect(shown + written + first.output.out + first.output.error).not.toContain(key);

  const second = await gateway({ DATA_DIR, PRIVATE_WALK_RATE: "1" });
  expect(await second.state()).toMatchObject({ state: "complete", rows: 3, kept: "directory", walksHere: true });
  expect(await second.list(administrator.key)).toEqual([2, 3, 5, 6, 9]);
  expect(await second.list(owner.key)).toEqual([2, 3, 9]);
  await second.end("SIGTERM");
  expect(second.output.error).not.toContain("unreadable");

  const another = await openBed();
  onTestFinished(() => another.close());
  // Below the ids that were looked at before.
  const theirs = [1, 4, 5].map((id) =>
    completeDataset({ id, name: `theirs ${id}`, uploader: owner.user.id, visibility: id === 1 ? "public" : "private" }),
  );
  another.use(theirs);
  const third = await gateway({ DATA_DIR, LEGACY_URL: another.url });
  for (const did of await third.list(administrator.key)) expect([1, 4, 5]).toContain(did);
  await until(() => third.isComplete());
  expect(await third.list(administrator.key)).toEqual([1, 4, 5]);
  expect(third.output.error).toMatch(/private_index_store_unreadable.*it is of another legacy/);
});

test("--check asks legacy about the key", async () => {
  const check = async (key: string) => {
    const { ended, output } = start({ LEGACY_URL: bed.url, LEGACY_ADMIN_KEY: key }, "--check");
    return { code: await ended, row: /^.*LEGACY_ADMIN_KEY.*$/m.exec(output.out)?.[0] };
  };
  expect((await check(administrator.key)).row).toMatch(/^ok +LEGACY_ADMIN_KEY +accepted, and an administrator's$/);
  const { code, row } = await check(owner.key);
  expect(row).toMatch(
    /^FAIL +LEGACY_ADMIN_KEY +accepted, but not an administrator's: it finds no private datasets but its owner.s$/,
  );
  expect(code).toBe(1);
  expect((await check("n0b0dys")).row).toMatch(/^FAIL .*Authentication failed$/);
});
