import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";
import { openAt, put, textOf } from "./support.ts";
import { openTrouble, startNode } from "./troubledProcess.ts";

/** A process that stores values, as `storingChild.ts` says. */
const startTwice = (option: string, directory = temporaryFolder()) =>
  startNode([option, join(import.meta.dirname, "storingChild.ts"), directory, "twice"]);

test("a write that hangs is refused in time, and rolled back if it succeeds later", async () => {
  const DATA_DIR = temporaryFolder();
  const before = await openAt({ DATA_DIR });
  await put(before, "a", "zero");
  await before.stores.close();
  const disk = openTrouble();
  disk.hang();
  const { output, ended } = startTwice(disk.option, DATA_DIR);
  await until(() => output.out.includes("rejected b"));
  disk.release();
  expect(await ended).toBe(0);
  const why = "the disk did not answer within 1000 ms";
  // The thread may take long to begin on a busy machine.
  const said = output.out.replace(/^store_hangs .*\n/, "");
  expect([said, output.error]).toEqual([
    `store_lost {"why":"${why}"}\nrejected a: ${why}\nrejected b: ${why}\nstore_up {}\na=zero\n`,
    "",
  ]);
  expect(textOf(await openAt({ DATA_DIR }))).toBe("a=zero");
});

test("a start on a disk that hangs says so, and ends with 1 and the setting's name", async () => {
  const directory = temporaryFolder();
  // To open a named pipe waits until another process opens it too.
  spawnSync("mkfifo", [join(directory, "catalog-gateway.sqlite")]);
  const { output, ended } = startNode([join(import.meta.dirname, "storingChild.ts"), directory, "impatient"]);
  expect(await ended).toBe(1);
  expect(output.out).toBe(
    `store_hangs {"directory":"${directory}"}\nDATA_DIR: ${directory} cannot be used: its disk does not answer true\n`,
  );
});

test("a start goes on if the disk answers after the warning that it hangs", async () => {
  const store = await openAt({ DATA_DIR: temporaryFolder(), hint: 0 });
  expect(await put(store, "a", "one")).toBe(true);
  expect(store.events).toEqual([expect.stringMatching(/^store_hangs /)]);
});

test("a thread that ends is reported, and no write counts as stored", async () => {
  const disk = openTrouble();
  disk.endThread();
  const { output } = startTwice(disk.option);
  await until(() => output.out.includes("rejected b"));
  const why = "the thread that writes has ended; restart the gateway";
  expect(output.out).toBe(`store_lost {"why":"${why}"}\nrejected a: ${why}\nrejected b: ${why}\n`);
});

test("a disk that hangs holds up neither requests nor the end, and loses no move", async () => {
  const disk = openTrouble();
  const settings = { DATA_DIR: temporaryFolder(), MODERN_URL: "http://127.0.0.1:9/v1", LOG_LEVEL: "info" };
  const opened = async (...options: string[]) => {
    const program = startNode([...options, "src/main.ts"], settings);
    const url = await program.listening();
    return { ...program, url, admin: /operators: (\S+)/.exec(program.output.out)?.[1] as string };
  };
  const first = await opened(disk.option);
  const move = async (endpoint: string) => {
    const body = JSON.stringify({ stage: "shadow", by: "a test", why: "to compare" });
    const headers = { "Content-Type": "application/json" };
    return (await fetch(`${first.admin}/stages/${endpoint}`, { method: "POST", headers, body })).status;
  };
  const howListed = async () => {
    const answer = await fetch(`${first.url}/v1/evaluationmeasures/list`);
    await answer.arrayBuffer();
    return answer.headers.get("cache-status");
  };
  await howListed();
  expect(await move("getDataset")).toBe(200);
  disk.hang();
  const moving = move("getTask");
  expect(await howListed()).toContain("hit");
  expect((await fetch(`${first.admin}/healthz`)).status).toBe(200);
  expect([await moving, await move("getFlow")]).toEqual([503, 503]);
  expect(await (await fetch(`${first.admin}/readyz?verbose`)).text()).toMatch(/"name":"store","state":"failed"/);
  first.child.kill("SIGTERM");
  expect(await first.ended).toBe(0);
  for (const text of ["the disk did not answer within 1000 ms", '"event":"stopped"'])
    expect(first.output.error).toContain(text);

  const second = await opened();
  for (const [endpoint, stage] of Object.entries({ getDataset: "shadow", getTask: "legacy" }))
    expect(await (await fetch(`${second.admin}/stages/${endpoint}`)).json()).toMatchObject({ stage });
});
