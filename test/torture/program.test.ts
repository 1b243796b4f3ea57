import { execFile } from "node:child_process";
import { describe, expect, test } from "vitest";
import { attacks } from "./attacks/index.ts";
import { readOptions } from "./options.ts";
import { openProgress, tableOf } from "./report.ts";

const names = attacks.map(({ name }) => name);
const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; error: string }>((resolve) => {
    execFile(process.execPath, ["test/torture/main.ts", ...args], (failure, out, error) =>
      resolve({ code: failure === null ? 0 : Number(failure.code), out, error }),
    );
  });

describe("npm run check:torture", () => {
  test("--help names every attack and option, and is 0", async () => {
    const { code, out } = await run("--help");
    expect(code).toBe(0);
    for (const text of [...names, "--requests", "--seed", "--only"]) expect(out).toContain(`  ${text} `);
  });

  test("an option that it does not know, or a value out of bounds, is 2", async () => {
    const [name, value] = await Promise.all([run("--onyl", "fuzz"), run("--only", "nothing")]);
    expect([name.code, value.code, name.out, value.out]).toEqual([2, 2, "", ""]);
    expect(value.error).toContain('--only: "nothing" given; allowed are refused-dispatch, ');
  });

  test("each attack has a name of its own and says in one sentence what it does", () => {
    expect(new Set(names).size).toBe(names.length);
    for (const { what } of attacks) expect(what).toMatch(/^[A-Z0-9][^\n]+\.$/);
  });
});

describe("the options", () => {
  test("have defaults, and a seed that differs between runs", () => {
    const [one, two] = [readOptions([], names), readOptions([], names)];
    expect(one).toMatchObject({ requests: 100_000, only: [] });
    expect(one).not.toEqual(two);
  });

  test.each([
    [["--requests", "0"], '--requests: "0" given; allowed is a number from 1 to 100000000'],
    [["--seed", "x"], '--seed: "x" given; allowed is a number from 0 to 4294967295'],
    [["--seed", "4294967296"], '--seed: "4294967296" given; allowed is a number from 0 to 4294967295'],
  ])("%j: %s", (args, error) => {
    expect(readOptions(args, names)).toEqual({ error });
  });
});

describe("the report", () => {
  const check = { what: "memory", measured: "900 MiB", bound: "at most 100 MiB", holds: false };

  test("the table names what did not hold, with its measure and its bound", () => {
    const table = tableOf([
      { name: "one", seconds: 1, checks: [{ ...check, holds: true }] },
      { name: "two", seconds: 2, checks: [{ ...check, holds: true }, check] },
    ]);
    expect(table).toMatch(/\| one +\| held +\| 1\/1/);
    expect(table).toMatch(/\| two +\| FAILED \| 1\/2 +\| +2 s \| memory: 900 MiB \(at most 100 MiB\) \|/);
    expect(table).toMatch(/1 of 2 did not hold\.$/);
  });

  test("progress is drawn again on a terminal, and a line every ten seconds elsewhere", () => {
    let now = 0;
    let text = "";
    const out = (isTTY: boolean) => ({ isTTY, columns: 20, write: (more: string) => (text += more) });
    const terminal = openProgress(out(true), "fuzz", () => now);
    terminal.say("1 of 2 requests, none wrong");
    terminal.end();
    expect(text).toBe("\r\u001B[Kfuzz: 1 of 2 reques\r\u001B[K");
    text = "";
    const plain = openProgress(out(false), "fuzz", () => now);
    plain.say("1 of 2");
    now = 10_000;
    plain.say("2 of 2");
    plain.end();
    expect(text).toBe("fuzz: 2 of 2\n");
  });
});
