import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kitUsage, readKitArguments } from "../../../tools/serveKit/arguments.ts";
import { closestPairs, type FixtureRequest } from "../../../tools/serveKit/closestPairs.ts";

const main = join(import.meta.dirname, "../../../tools/serveKit/main.ts");
const run = promisify(execFile);

describe("the program", () => {
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--prefix", "/api/v2"]);
  let origin = "";
  beforeAll(async () => {
    const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
    origin = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? line;
  });
  afterAll(() => void child.kill("SIGKILL"));

  test("the kit's server answers both interfaces, and 501 with the closest pairs", async () => {
    const json = async (path: string, init?: RequestInit) => (await fetch(origin + path, init)).json();
    expect(await json("/api/v2/datasets/61")).toMatchObject({ id: 61, creator: ["R.A. Fisher"] });
    expect(await json("/api/v1/json/data/61")).toMatchObject({
      data_set_description: { id: "61", creator: "R.A. Fisher" },
    });
    expect(await json("/api/v2/datasets/999999")).toMatchObject({ detail: { code: "111" } });
    const headers = { "Content-Type": "application/json", "X-API-Key": "AD000000000000000000000000000000" };
    const tag = { method: "POST", headers, body: '{"data_id": 217, "tag": "newtag"}' };
    const known = {
      pair: "tagDataset/first-tag",
      request: "POST /api/v2/datasets/tag",
      body: '{"data_id":217,"tag":"newtag"}',
      key: "00000000000000000000000000000000",
    };
    expect(await json("/api/v2/datasets/tag", tag)).toMatchObject({ closest: expect.arrayContaining([known]) });
    const unknown = await fetch(`${origin}/api/v2/dataset/61?api_key=${"ab".repeat(16)}`);
    const text = await unknown.text();
    expect(unknown.status).toBe(501);
    expect(unknown.headers.get("access-control-allow-origin")).toBe("*");
    expect(text).not.toContain("abab");
    expect(text).toContain('"request": "GET /api/v2/datasets/61"');
  });

  test("the kit's server takes a slash at the end and HEAD as the gateway does", async () => {
    const headers = { "Content-Type": "application/json" };
    for (const path of ["/api/v2/datasets/list", "/api/v2/datasets/list/"])
      expect((await fetch(origin + path, { method: "POST", headers, body: '{"limit": 1}' })).status).toBe(200);
    const head = await fetch(`${origin}/api/v2/datasets/61/`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("the kit's server refuses a body of more than a MiB, and goes on", async () => {
    const post = (length: number) =>
      fetch(`${origin}/api/v2/datasets/list`, { method: "POST", body: Buffer.alloc(length, "x") });
    expect((await post(1024 ** 2 + 1)).status).toBe(413);
    expect((await post(1024 ** 2)).status).toBe(501);
  });

  test("the kit's server exits with 0 when stopped, with 2 where it cannot start", async () => {
    const { port } = new URL(origin);
    const { code, stderr } = (await run(process.execPath, [main, "serve", "--port", port]).catch(
      (error: unknown) => error,
    )) as { code: number; stderr: string };
    expect([code, stderr]).toEqual([2, expect.stringContaining("EADDRINUSE")]);
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

test.each([
  [["serve", "-h"], { help: true }],
  [[], { error: "no command: the one command is serve; see --help" }],
  [["serve", "--port", "65536"], { error: "--port: 65536 given; allowed is a number from 0 to 65535" }],
  [["serve", "--prefix", "v1/"], { error: "--prefix: v1/ given; allowed is a path such as /v1" }],
  [
    ["serve", "--endpoint", "a", "--endpoint", "b", "--example", "c"],
    { port: 9000, host: "127.0.0.1", prefix: "/v1", legacyPath: "/api/v1", endpoints: ["a", "b"], example: "c" },
  ],
])("the kit's server reads the arguments %j", (args, expected) => {
  expect(readKitArguments(args)).toEqual(expected);
  expect(kitUsage.split("\n").filter((line) => line.length > 120)).toEqual([]);
});

test("the closest pairs are named once each, with their keys", () => {
  const known: FixtureRequest[] = [
    { pair: "a/one", method: "GET", target: "/v1/a/1" },
    { pair: "a/same", method: "GET", target: "/v1/a/1" },
    { pair: "a/keyed", method: "GET", target: "/v1/a/1", key: "AD" },
    { pair: "b/one", method: "POST", target: "/v1/b", body: "{}" },
  ];
  expect(closestPairs({ method: "GET", target: "/v1/a/12" }, known, 2)).toEqual([known[0], known[2]]);
  expect(closestPairs({ method: "POST", target: "/v1/b", body: "[]" }, known, 1)).toEqual([known[3]]);
  expect(closestPairs({ method: "GET", target: "x".repeat(100_000) }, known, 9)).toHaveLength(3);
});
