import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { http, HttpResponse } from "msw";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { webRequest } from "../../../fixtures/serveHandlers.ts";
import { kitUsage, readKitArguments } from "../../../src/tools/serveKit/arguments.ts";
import { closestPairs, type KnownRequest } from "../../../src/tools/serveKit/closestPairs.ts";
import { type KitParts, MAX_KIT_BODY, serveKit } from "../../../src/tools/serveKit/serveKit.ts";

const main = join(import.meta.dirname, "../../../src/tools/serveKit/main.ts");
const run = promisify(execFile);

describe("the program", () => {
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--prefix", "/api/v2"]);
  let origin = "";
  beforeAll(async () => {
    const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
    origin = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0] ?? line;
  });
  afterAll(() => void child.kill("SIGKILL"));

  test("answers both interfaces, and 501 with the closest pairs", async () => {
    const json = async (path: string, init?: RequestInit) => (await fetch(origin + path, init)).json();
    expect(await json("/api/v2/datasets/61")).toMatchObject({ id: 61, creator: ["R.A. Fisher"] });
    expect(await json("/api/v1/json/data/61")).toMatchObject({
      data_set_description: { id: "61", creator: "R.A. Fisher" },
    });
    expect(await json("/api/v2/datasets/999999")).toMatchObject({ detail: { code: "111" } });
    const headers = { "Content-Type": "application/json" };
    const list = { method: "POST", headers, body: '{"tag": "no_such_tag"}' };
    expect(await json("/api/v2/datasets/list", list)).toMatchObject({
      closest: expect.arrayContaining([expect.objectContaining({ request: "POST /api/v2/datasets/list" })]),
    });
    const unknown = await fetch(`${origin}/api/v2/dataset/61?api_key=${"ab".repeat(16)}`);
    const text = await unknown.text();
    expect(unknown.status).toBe(501);
    expect(text).not.toContain("abab");
    expect(text).toContain('"request": "GET /api/v2/datasets/61"');
  });

  test("ends with 0 when it is stopped, and with 2 where it cannot start", async () => {
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
  [["--help"], { help: true }],
  [["serve", "-h"], { help: true }],
  [[], { error: "no command: the one command is serve; see --help" }],
  [["record"], { error: "record: the one command is serve; see --help" }],
  [["serve", "--port", "65536"], { error: "--port: 65536 given; allowed is a number from 0 to 65535" }],
  [["serve", "--port", "1e3"], { error: "--port: 1e3 given; allowed is a number from 0 to 65535" }],
  [["serve", "--prefix", "v1/"], { error: "--prefix: v1/ given; allowed is a path such as /v1" }],
  [["serve", "--nope"], { error: expect.stringMatching(/'--nope'; allowed are --port, .*--help$/) }],
  [
    ["serve", "--endpoint", "a", "--endpoint", "b", "--example", "c"],
    { port: 9000, host: "127.0.0.1", prefix: "/v1", legacyPath: "/api/v1", endpoints: ["a", "b"], example: "c" },
  ],
])("arguments %j", (args, expected) => {
  expect(readKitArguments(args)).toEqual(expected);
  expect(kitUsage.split("\n").filter((line) => line.length > 120)).toEqual([]);
});

describe("the server", () => {
  const known: KnownRequest[] = [
    { pair: "a/one", method: "GET", target: "/v1/a/1" },
    { pair: "a/same", method: "GET", target: "/v1/a/1" },
    { pair: "a/keyed", method: "GET", target: "/v1/a/1", key: "AD" },
    { pair: "b/one", method: "POST", target: "/v1/b", body: "{}" },
  ];
  const served = async (parts: Partial<KitParts> = {}) => {
    const handlers = [
      http.get(/\/v1\/a\/1$/, () => HttpResponse.json([1])),
      http.post(/\/v1\/b$/, async ({ request }) => HttpResponse.json(await request.clone().json())),
    ];
    const kit = await serveKit({ handlers, known, toWeb: webRequest, ...parts }, { host: "127.0.0.1", port: 0 });
    onTestFinished(() => kit.close());
    return (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${kit.port}${path}`, init);
  };

  test("takes a slash at the end and HEAD as the gateway does", async () => {
    const ask = await served();
    expect(await (await ask("/v1/a/1/")).json()).toEqual([1]);
    expect(await (await ask("/v1/b/", { method: "POST", body: '{"x": 1}' })).json()).toEqual({ x: 1 });
    const head = await ask("/v1/a/1/", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("lets pages of any origin ask", async () => {
    const ask = await served();
    const preflight = await ask("/v1/a/1", {
      method: "OPTIONS",
      headers: { "Access-Control-Request-Headers": "x-api-key" },
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "x-api-key"]);
    expect((await ask("/nothing")).headers.get("access-control-allow-origin")).toBe("*");
  });

  test("refuses a body above its limit, and goes on", async () => {
    const ask = await served();
    const body = "x".repeat(MAX_KIT_BODY + 1);
    expect((await ask("/v1/b", { method: "POST", body })).status).toBe(413);
    expect((await ask("/v1/b", { method: "POST", body: body.slice(1) })).status).not.toBe(413);
    expect((await ask("/v1/a/1")).status).toBe(200);
  });

  test("names each closest request once, with its key", async () => {
    expect(closestPairs({ method: "GET", target: "/v1/a/12" }, known, 2)).toEqual([known[0], known[2]]);
    expect(closestPairs({ method: "POST", target: "/v1/b", body: "[]" }, known, 1)).toEqual([known[3]]);
    expect(closestPairs({ method: "GET", target: "x".repeat(100_000) }, known, 9)).toHaveLength(3);
    const ask = await served();
    const answer = await ask("/v1/a/1x");
    expect([answer.status, await answer.json()]).toEqual([
      501,
      {
        detail: "No pair answers GET /v1/a/1x with this body and key.",
        closest: [
          { pair: "a/one", request: "GET /v1/a/1" },
          { pair: "a/keyed", request: "GET /v1/a/1", key: "AD" },
          { pair: "b/one", request: "POST /v1/b", body: "{}" },
        ],
      },
    ]);
  });
});
