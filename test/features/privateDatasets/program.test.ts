import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { PrivateRowsView } from "../../../features/privateDatasets/scan.ts";
import { start } from "../../gateway/answer/support.ts";
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

/** The program as an operator starts it, and what they see of the scan. */
const gateway = async (environment: Record<string, string>) => {
  const program = start({
    LEGACY_URL: bed.url,
    LOG_LEVEL: "debug",
    LEGACY_ADMIN_KEY: administrator.key,
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

/** The ids on the disk, when no process has it. */
const keptIn = (place: string): string[] => {
  const database = new DatabaseSync(join(place, "catalog-gateway.sqlite"));
  const records = database.prepare("SELECT key FROM entries WHERE feature LIKE 'private-rows:%' ORDER BY key").all();
  database.close();
  return records.map(({ key }) => String(key));
};

test("a scan goes on where it was when the process was killed", async () => {
  bed.use([...rows, completeDataset({ id: 1000, name: "last" })]);
  const DATA_DIR = temporaryFolder();
  const first = await gateway({ DATA_DIR });
  // Found rows are on the disk a moment later.
  const log = join(DATA_DIR, "catalog-gateway.sqlite-wal");
  await until(() => existsSync(log) && /"unknown":"[\w/+]{40}/.test(readFileSync(log, "latin1")));
  await first.end("SIGKILL");
  expect(keptIn(DATA_DIR)).toEqual(["3", "5", "6", "scan"]);
  expect(statSync(join(DATA_DIR, "catalog-gateway.sqlite")).mode & 0o77).toBe(0);

  const second = await gateway({ DATA_DIR });
  await until(() => second.isComplete());
  expect(await second.list(administrator.key)).toEqual([2, 3, 5, 6, 9, 1000]);
  // Without rows from the disk: the probe, the list, each id that is not listed, and the qualities of three.
  expect((await second.state()).calls).toBeLessThan(2 + (1100 - 3) + 3 - 100);
});

test("a scan's rows survive a restart, hold no key, and are for the same legacy only", async () => {
  bed.use(rows);
  const DATA_DIR = temporaryFolder();
  const first = await gateway({ DATA_DIR });
  await until(() => first.isComplete());
  for (const { key } of [administrator, owner, user, nobody]) await first.list(key);
  const shown = JSON.stringify(await first.state());
  expect(await first.end("SIGTERM")).toBe(0);
  const written = readFileSync(join(DATA_DIR, "catalog-gateway.sqlite"), "latin1");
  for (const { key } of [administrator, owner, user])
    expect(shown + written + first.output.out + first.output.error).not.toContain(key);

  const second = await gateway({ DATA_DIR });
  expect(await second.state()).toMatchObject({ state: "complete", rows: 3, kept: "directory", scansHere: true });
  expect(await second.list(administrator.key)).toEqual([2, 3, 5, 6, 9]);
  expect(await second.list(owner.key)).toEqual([2, 3, 9]);
  await second.end("SIGTERM");
  expect(second.output.error).not.toContain("unreadable");

  const another = await openBed();
  onTestFinished(() => another.close());
  // Below the ids that were read before.
  const theirs = [1, 4, 5].map((id) =>
    completeDataset({ id, name: `theirs ${id}`, uploader: owner.user.id, visibility: id === 1 ? "public" : "private" }),
  );
  another.use(theirs);
  const third = await gateway({ DATA_DIR, LEGACY_URL: another.url });
  for (const did of await third.list(administrator.key)) expect([1, 4, 5]).toContain(did);
  await until(() => third.isComplete());
  expect(await third.list(administrator.key)).toEqual([1, 4, 5]);
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
