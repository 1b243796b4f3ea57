import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildId } from "../../src/operation/index.ts";
import { describeWithRedis, startRedis } from "../libraries/stores/redis/redisServer.ts";
import { packGateway, runNpm } from "../support/package.ts";
import { watchProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const tarball = packGateway();
const folder = temporaryFolder();
runNpm(folder, "install", tarball);

const installed = join(folder, "node_modules/catalog-gateway");
const program = join(folder, "node_modules/.bin/catalog-gateway");
const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
  build: string;
  engines: { node: string };
};
const megabytes = (bytes: number): number => bytes / 1024 ** 2;

/** The Nodes to try, by their paths. `NODE_24` names the lowest that the package may run on: `.ci/run` sets it. */
const lowest = process.env["NODE_24"];
const nodes = [process.execPath, lowest].flatMap((path) => path ?? []);

/** Runs a command of the package to its end. */
const runToEnd = (node: string, ...args: string[]) => {
  const env = { PATH: process.env["PATH"], PORT: "0", ADMIN_PORT: "0", LOG_LEVEL: "silent" };
  const { status, stdout, stderr } = spawnSync(node, [program, ...args], { cwd: folder, env, encoding: "utf8" });
  return { status, stdout, stderr };
};

/** Starts the gateway of the package over its sample legacy. */
const start = async (node: string, settings: Record<string, string> = {}) => {
  const env = { PATH: process.env["PATH"], PORT: "0", ADMIN_PORT: "0", DRAIN_DELAY_MS: "0", LOG_LEVEL: "error" };
  const gateway = watchProgram(
    spawn(node, [program], { cwd: folder, env: { ...env, ...settings }, stdio: ["ignore", "pipe", "pipe"] }),
  );
  onTestFinished(() => void gateway.child.kill("SIGKILL"));
  const url = await gateway.listening();
  const [, operators = ""] = /operators: (http:\/\/[\d.:]+)/.exec(gateway.output.out) ?? [];
  return { ...gateway, url, operators };
};

const post = (body: string): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json", "X-API-Key": "0".repeat(32) },
  body,
});

test("two packs of one commit are one file of at most 2 MB, with the commit's build id", () => {
  expect(readFileSync(packGateway()).equals(readFileSync(tarball))).toBe(true);
  expect(megabytes(statSync(tarball).size)).toBeLessThan(2);
  expect(manifest.build).toBe(buildId());
});

test("what is installed has at most 60 MB, and nothing that reports installations", () => {
  const files = globSync("node_modules/**", { cwd: folder, withFileTypes: true }).filter((one) => one.isFile());
  const sizes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  expect(megabytes(sizes.reduce((sum, size) => sum + size, 0))).toBeLessThan(60);
  const folders = [...new Set(files.map(({ parentPath }) => parentPath))];
  expect(folders.filter((path) => /scarf|swagger-ui|node-linux|typescript/.test(path))).toEqual([
    join(installed, "vendor/swagger-ui-dist"),
  ]);
  expect(globSync("**/*.ts", { cwd: installed })).toEqual([]);
});

test("the licences of the files from other packages travel with them", () => {
  expect(globSync("vendor/*/{LICENSE,NOTICE}", { cwd: installed }).toSorted()).toEqual([
    "vendor/idiomorph/LICENSE",
    "vendor/swagger-ui-dist/LICENSE",
    "vendor/swagger-ui-dist/NOTICE",
  ]);
});

test.skipIf(lowest === undefined)("the lowest Node that the package names is the one that is tried", () => {
  const { stdout } = spawnSync(lowest ?? "", ["-p", "process.versions.node"], { encoding: "utf8" });
  expect(manifest.engines.node).toBe(`>=${stdout.trim()}`);
});

describe.each(nodes)("the package, run by %s", (node) => {
  test("--check over the sample passes", () => {
    expect(runToEnd(node, "--check")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^READY: /m) as string,
    });
  });

  test("commands that belong to a clone say so and end with 2", () => {
    for (const command of [["record"], ["kit"], ["docs", "openapi", "--prefix", "/v1"]])
      expect(runToEnd(node, ...command)).toEqual({
        status: 2,
        stdout: "",
        stderr: expect.stringMatching(new RegExp(`^${command[0]}: .* in a clone.*\n$`)) as string,
      });
    expect(runToEnd(node, "compare", "--help").status).toBe(0);
  });

  test("it reads, writes, has threads for large bodies, serves pages, ends at SIGTERM", async () => {
    const { child, ended, output, url, operators } = await start(node, { DATA_DIR: temporaryFolder() });
    const read = async (target: string, init?: RequestInit): Promise<[number, unknown]> => {
      const answer = await fetch(target, init);
      const text = await answer.text();
      return [answer.status, /json/.test(answer.headers.get("Content-Type") ?? "") ? JSON.parse(text) : text];
    };
    expect(await read(`${url}/v1/datasets/61`)).toEqual([200, expect.objectContaining({ id: 61, name: "iris" })]);
    const tagged = await read(`${url}/v1/datasets/tag`, post('{"data_id": 61, "tag": "packed"}'));
    expect(tagged).toEqual([200, { data_tag: { id: 61, tag: expect.arrayContaining(["packed"]) as string[] } }]);
    // So large a body is read in a thread, which loads modules of its own.
    const list = await read(`${url}/v1/datasets/list`, post('{"limit": 1000}'.padStart(100_000)));
    expect(list).toEqual([200, expect.arrayContaining([expect.objectContaining({ did: 61 })])]);
    expect(await read(`${url}/v1/openapi.json`)).toEqual([
      200,
      expect.objectContaining({ openapi: expect.stringMatching(/^3\.1\./) as string }),
    ]);
    for (const page of [`${url}/v1/docs`, `${url}/v1/docs/swagger-ui-bundle.js`, `${operators}/`])
      expect([page, ...(await read(page))]).toEqual([page, 200, expect.stringMatching(/.{500}/s)]);
    // Without a listener Node opens its inspector, and says so.
    child.kill("SIGUSR1");
    expect((await read(`${url}/v1/datasets/61`))[0]).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(output.error).not.toContain("Debugger");
  });
});

describeWithRedis("several gateways of one package", () => {
  test("they share entries by the build id that was packed", async () => {
    const redis = await startRedis();
    const { url } = await start(process.execPath, { REDIS_URL: redis.url });
    await expect
      .poll(async () => {
        const { status } = await fetch(`${url}/v1/datasets/61`, { headers: { "Cache-Control": "no-cache" } });
        return [status, await redis.talk("KEYS catalog-gateway:1:e:*")];
      })
      .toEqual([200, expect.stringContaining(`e:${manifest.build}:`)]);
  });
});

type Locked = Record<string, { version: string; resolved?: string }>;

test("the tarball, unpacked, installs the versions of the clone's lock file", () => {
  const target = temporaryFolder();
  spawnSync("tar", ["-xzf", tarball, "-C", target]);
  const unpacked = join(target, "package");
  runNpm(unpacked, "ci");
  const lockOf = (file: string) => (JSON.parse(readFileSync(file, "utf8")) as { packages: Locked }).packages;
  const clone = lockOf("package-lock.json");
  const { "": own, ...others } = lockOf(join(unpacked, "npm-shrinkwrap.json"));
  expect(own?.version).toBe(clone[""]?.version);
  for (const [path, { version, resolved }] of Object.entries(others)) {
    const about = JSON.parse(readFileSync(join(unpacked, path, "package.json"), "utf8")) as { version: string };
    const { version: locked } = clone[path] ?? {};
    expect([path, resolved, version, about.version]).toEqual([path, undefined, locked, locked]);
  }
  expect(existsSync(join(unpacked, "node_modules/typescript"))).toBe(false);
});
