import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { openStores } from "../../../libraries/stores/openStores.ts";
import { settingsSchemaOf } from "../../../src/operation/settings/settings.ts";
import { get, httpUpstream, request } from "../proxy/support.ts";
import { fragments } from "../../support/settings.ts";
import { exchange, keys, measures, start, startByShell } from "./support.ts";
import { until } from "../../support/waiting.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const file = (content: string): string => {
  const path = join(temporaryFolder(), "config.json");
  writeFileSync(path, content);
  return path;
};
const run = async (environment: Record<string, string>, ...args: string[]) => {
  const { ended, output } = start(environment, ...args);
  return { code: await ended, ...output };
};

describe("keys and secrets", () => {
  test("a key is in no log at debug and in no answer, however legacy repeats it", async () => {
    const key = keys.unknown;
    const url = await httpUpstream((incoming, response) => {
      const target = incoming.url ?? "";
      if (target.includes("/data/1?")) return response.destroy();
      if (target.includes("/data/2?")) return response.end(`<b>Warning</b> ${target}`);
      if (target.includes("/data/3?")) return response.end(JSON.stringify({ other: target }));
      if (target.includes("/data/4?")) return response.writeHead(500).end(`{"message":"${target}"}`);
      if (target.includes("/data/5?")) return response.end(`{"data_set_description":{"id":"${target}"}}`);
      if (target.includes("/data/6?")) return response.writeHead(302, { Location: target }).end();
      if (incoming.method === "POST") return response.writeHead(500).end(`<div>${target} api_key=${key}</div>`);
      return response.end(measures);
    });
    const { child, output, ended, listening } = start({
      LEGACY_URL: url,
      LOG_LEVEL: "debug",
      LEGACY_API_KEY: "S3rv1ceKey",
    });
    const port = Number(new URL(await listening()).port);
    const body = '{"data_id":1,"tag":"a"}';
    const by = `X-API-Key: ${key}`;
    const ours = [
      ...[1, 2, 3, 4, 5, 6, 0, "abc"].map((id) => get(`/v1/datasets/${id}?api_key=${key}`)),
      get(`/v1/nothing?api_key=${key}`),
      get(`/v1/datasets/1?api_key=${key}&api_key=other`),
      get(`/v1/datasets/1?api_key=${key}%20`),
      get("/v1/datasets/1", `Authorization: Bearer ${key} ${key}`),
      get("/v1/flow/exists/a=b/1/"),
      get("/v1/flow/exists/a=b/1/", by),
      request("POST /v1/datasets/tag", by, `Content-Length: ${body.length}`) + body,
      `GET /v1/datasets/1?api_key=${key} HTTP/1.1\r\n\r\n`,
      `GET /v1/data sets/1?api_key=${key} HTTP/1.1\r\nHost: a\r\n\r\n`,
    ];
    const passed = ["", "http://front.example"].map((host) => get(`${host}/api/v1/json/data/1?api_key=${key}`));
    for (const bytes of ours) {
      const { text } = await exchange(port, bytes);
      expect([bytes, text]).toEqual([bytes, expect.not.stringMatching(/S3rv1ceKey|aBcD0123|<b>|<div>/)]);
    }
    for (const bytes of passed) await exchange(port, bytes);
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    for (const event of [
      "legacy_failed",
      "json_broken",
      "schema_mismatch",
      "odd_status",
      "pass_through_failed",
      "stopped",
    ])
      expect(output.error).toContain(event);
    expect(output.out + output.error).not.toMatch(/aBcD0123|S3rv1ceKey/);
    // Each line of the log is JSON.
    for (const line of output.error.trim().split("\n")) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });

  test.each<[what: string, environment: Record<string, string>]>([
    ["EXPECTED_DIFFERENCES", { REDIS_URL: "redis://127.0.0.1:1", EXPECTED_DIFFERENCES: "/nonexistent" }],
    ["LEGACY_CA", { DATA_DIR: temporaryFolder(), LEGACY_CA: "/nonexistent" }],
  ])(
    "a file of %s that cannot be read stops the program with 2, also while a store is open",
    async (name, environment) => {
      const { code, error } = await run(environment);
      expect([code, error]).toEqual([2, expect.stringMatching(new RegExp(`^${name}`, "m"))]);
    },
  );

  test("wrong settings stop the program with 2 and a line that says what is wrong", async () => {
    const all = await Promise.all([
      run({ LEGACY_API_KEY: "hush-hush" }),
      run({ CONFIG: file('{"LEGACY_API_KEY": "hush" oops') }),
    ]);
    const names = all.map(({ code, out, error }) => [code, out, error.match(/^.*?(?=:)/gm)]);
    expect(names).toEqual(["LEGACY_API_KEY", "CONFIG"].map((name) => [2, "", [name]]));
    expect(JSON.stringify(all)).not.toContain("hush");
  });
});

describe("--help and --check", () => {
  test("--help lists every setting once with its default, whatever is configured", async () => {
    const { code, out, error } = await run({ PORT: "x", LEGACY_API_KEY: "hush" }, "--help");
    expect([code, error]).toEqual([0, ""]);
    for (const name of Object.keys(settingsSchemaOf(fragments).shape))
      expect(out.match(new RegExp(`^  ${name} .*[a-z]{3}`, "gm"))).toHaveLength(1);
    expect(out).toMatch(/^ {2}PORT .*\[8000\]$/m);
    expect(out).toMatch(/CONFIG/);
    expect(out).not.toContain("hush");
    expect((await run({}, "-h")).out).toBe(out);
  });

  test("--check exits with 2 for a wrong setting, 1 if not usable, 0 if all is well", async () => {
    const legacy = await startSampleLegacy();
    const checked = (environment: Record<string, string>, ...more: string[]) =>
      run({ LEGACY_URL: legacy.url, ...environment }, "--check", ...more);
    const all = await Promise.all([
      checked({ PORT: "x" }, "--json"),
      checked({ LEGACY_API_KEY: keys.unknown }),
      checked({ LEGACY_API_KEY: keys.user }),
      checked({ REDIS_URL: "redis://:hush@127.0.0.1:1" }, "--json"),
    ]);
    await legacy.close();
    expect(all.map(({ code }) => code)).toEqual([2, 1, 0, 1]);
    expect(JSON.parse(all[0]?.out ?? "")).toEqual({ ready: false, errors: [expect.stringMatching(/^PORT: /)] });
    expect(JSON.parse(all[3]?.out ?? "")).toMatchObject({
      ready: false,
      failed: 1,
      rows: expect.arrayContaining([
        expect.objectContaining({ result: "FAIL", name: "REDIS_URL", advice: "start Redis, or correct REDIS_URL" }),
      ]),
    });
    expect(JSON.stringify(all)).not.toContain("hush");
    expect(all[1]?.out).toMatch(/^FAIL +LEGACY_API_KEY +Authentication failed/m);
    expect(all[2]?.out).not.toMatch(/^FAIL /m);
    for (const { out, error } of all)
      for (const key of [keys.unknown, keys.user]) expect(out + error).not.toContain(key);
  });

  test("a reader of the output that leaves changes nothing about the verdict", async () => {
    const { child, ended, output } = start({}, "--check");
    child.stdout.destroy();
    expect(await ended).toBe(0);
    expect(output.error).toBe("");
  });

  test("--version is the name and the version, whatever is configured", async () => {
    const { name, version } = JSON.parse(readFileSync("package.json", "utf8")) as Record<string, string>;
    const all = await Promise.all([run({ PORT: "x" }, "--version"), run({}, "-V")]);
    for (const result of all) expect(result).toEqual({ code: 0, out: `${name} ${version}\n`, error: "" });
  });

  test("an unknown argument exits with 2, and names the option that was meant", async () => {
    const wrong = [["--chekc"], ["compar"], ["--check", "--port=1"], ["check", "--port=1"], ["serve", "check"]];
    const all = await Promise.all(wrong.map((args) => run({}, ...args)));
    for (const { code, out, error } of all)
      expect([code, out, error]).toEqual([2, "", expect.stringContaining("--help shows what is allowed")]);
    expect(all[0]?.error).toContain("Did you mean --check?");
    expect(all[1]?.error).toContain("Did you mean compare?");
  });

  test("each command has its help, and the program's help lists all commands", async () => {
    const { out } = await run({}, "--help");
    const names = ["serve", "check", "compare", "record", "kit", "sample", "docs"];
    for (const name of names) expect(out).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    const helps = await Promise.all(names.map((name) => run({}, name, "--help")));
    expect(helps.map(({ code, error }) => [code, error])).toEqual(names.map(() => [0, ""]));
    for (const [i, name] of names.entries()) expect(helps[i]?.out).toContain(`Usage: catalog-gateway ${name}`);
  });

  test("check is --check as a command, and sample runs the sample legacy alone", async () => {
    const sample = start({}, "sample", "--port", "0");
    const [line] = (await once(sample.child.stdout, "data")) as [Buffer];
    const url = /http:\/\/\S+\d/.exec(line.toString())?.[0] ?? "";
    const { code, out } = await run({ LEGACY_URL: url }, "check", "--json");
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ ready: true })]);
    expect((await run({}, "sample", "--port", "x")).code).toBe(2);
  });
});

describe("the sample legacy", () => {
  test("in production a lost LEGACY_URL stops the start and --check with 2", async () => {
    const given = { NODE_ENV: "production", LEGACY_ULR: "http://127.0.0.1:9" };
    for (const { code, out, error } of await Promise.all([run(given), run(given, "--check")]))
      expect([code, out, error.split("\n")]).toEqual([
        2,
        "",
        [expect.stringMatching(/ is LEGACY_URL meant\?$/), expect.stringMatching(/^LEGACY_URL: nothing given /), ""],
      ]);
  });

  test("the start, the page, /readyz and --check say that it invents all answers", async () => {
    const given = { NODE_ENV: "production", LEGACY_URL: "sample" };
    const checked = run(given, "--check");
    const { output, listening } = start(given);
    await listening();
    const operators = /operators: (\S+)/.exec(output.out)?.[1] ?? "";
    const read = async (path: string) => (await fetch(operators + path)).text();
    expect(output.out).toContain("(the sample legacy, started beside: all answers are invented)");
    expect(await read("/readyz?verbose")).toContain('"name":"legacy_sample","state":"failed"');
    // In the light of legacy, and among the troubles.
    const page = await read("/");
    for (const words of ["All answers are invented", ">invented "]) expect(page).toContain(words);
    const { code, out } = await checked;
    expect([code, out]).toEqual([0, expect.stringMatching(/^READY: .*\(the sample: all answers are invented\)/m)]);
  });
});

test("the start exits with 1 for a taken port, 2 for an address of another machine", async () => {
  const taken = new URL(await httpUpstream(() => undefined)).port;
  const [port, host] = await Promise.all([run({ PORT: taken }), run({ HOST: "192.0.2.1" })]);
  expect([port.code, host.code]).toEqual([1, 2]);
  expect(port.error).toContain(`127.0.0.1:${taken} cannot be listened on (EADDRINUSE)`);
  expect(host.error).toContain("192.0.2.1:0 cannot be listened on (EADDRNOTAVAIL)");
  for (const { out, error } of [port, host]) expect([out, error.trim().split("\n").length]).toEqual(["", 1]);
});

test("the start exits with 1 for a directory in use by another process, which may end", async () => {
  const DATA_DIR = temporaryFolder();
  const stores = await openStores({ DATA_DIR, REDIS_URL: undefined, onEvent: () => undefined });
  onTestFinished(() => stores.close());
  const { code, error } = await run({ DATA_DIR });
  expect([code, error]).toEqual([1, expect.stringMatching(/^DATA_DIR: .* another process uses it/)]);
});

test("fewer files than connections are a warning at the start", async () => {
  const script = `ulimit -n 500; exec ${process.execPath} src/main.ts`;
  const [few, enough] = [startByShell(script), startByShell(script, { MAX_CLIENT_CONNECTIONS: "400" })];
  await Promise.all([few.listening(), enough.listening()]);
  for (const { child } of [few, enough]) child.kill("SIGTERM");
  expect([await few.ended, await enough.ended]).toEqual([0, 0]);
  expect(few.output.error.match(/^MAX_CLIENT_CONNECTIONS: .*$/gm)).toEqual([
    "MAX_CLIENT_CONNECTIONS: 10000 connections, but this process may open 500 files only: raise that limit (ulimit -n, LimitNOFILE), or set MAX_CLIENT_CONNECTIONS to less",
  ]);
  expect(enough.output.error).not.toContain("MAX_CLIENT_CONNECTIONS");
});

test("the operators' port has to be free, and its address loopback without a token", async () => {
  const taken = new URL(await httpUpstream(() => undefined)).port;
  const [port, host] = await Promise.all([run({ ADMIN_PORT: taken }), run({ ADMIN_HOST: "0.0.0.0" })]);
  expect([port.code, port.out]).toEqual([1, ""]);
  expect(port.error).toBe(
    `ADMIN_PORT, ADMIN_HOST: 127.0.0.1:${taken} cannot be listened on (EADDRINUSE); allowed is a free port of this machine\n`,
  );
  expect([host.code, host.error]).toEqual([
    2,
    'ADMIN_HOST: "0.0.0.0" given without an ADMIN_TOKEN; allowed is a loopback address, or one with a token\n',
  ]);
});

test("the start line names the legacy server of LEGACY_URL, and no sample is started", async () => {
  const legacy = await startSampleLegacy();
  const { output, listening, child, ended } = start({ LEGACY_URL: `${legacy.url}/`, PREFIXES: "/" });
  const url = await listening();
  const [line = "", operators = ""] = output.out.split("; operators: ");
  expect(line).toBe(`catalog-gateway listens on ${url}, asks ${legacy.url}, serves /`);
  expect(operators).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n/);
  expect((await fetch(`${url}/datasets/61`)).status).toBe(200);
  child.kill("SIGINT");
  expect(await ended).toBe(0);
  await legacy.close();
});

describe("npm start", () => {
  test("npm start says where it listens, whom it asks, and what it serves", async () => {
    const { child, output, ended, listening } = start({ PREFIXES: "/v1,/api/v2" });
    const url = await listening();
    await until(() => output.out.includes("LEGACY_ADMIN_KEY is not set\n"));
    expect(output.out).toMatch(
      /^catalog-gateway listens on http:\/\/127\.0\.0\.1:\d+, asks http:\/\/127\.0\.0\.1:\d+ \(the sample legacy, [^)]*all answers are invented\), serves \/v1 \/api\/v2; operators: http:\/\/127\.0\.0\.1:\d+\nevery endpoint stays with legacy: MODERN_URL is not set\nthe new interface is described at \/v1\/docs and \/v1\/openapi\.json\nold clients get only errors while legacy is down: CACHE_LEGACY is not set\nadministrators are listed no private datasets but their own: LEGACY_ADMIN_KEY is not set\n$/,
    );
    expect((await fetch(`${url}/v1/datasets/61`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  });

  test("a signal to the shell of npm start stops the gateway", async () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { start: string } };
    const { child, ended, listening } = startByShell(scripts.start);
    const url = await listening();
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s to its processes, and once more by npm: requests in flight are answered",
    async (signal) => {
      let answer = () => {};
      let asked = 0;
      const legacy = await httpUpstream((_, response) => {
        asked++;
        answer = () => response.end(measures);
      });
      const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { start: string } };
      const { child, ended, listening } = startByShell(scripts.start, { LEGACY_URL: legacy });
      const inFlight = fetch(`${await listening()}/v1/evaluationmeasures/list`);
      await until(() => asked === 1);
      process.kill(-(child.pid as number), signal);
      // npm forwards the signal at once; two that are pending together would arrive as one.
      await new Promise((resolve) => setTimeout(resolve, 100));
      child.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, 300));
      answer();
      expect(await (await inFlight).json()).toEqual(["kappa"]);
      expect(await ended).toBe(0);
    },
  );
});
