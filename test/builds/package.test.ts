import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildId } from "../../src/operation/index.ts";
import { describeWithRedis, startRedis } from "../libraries/stores/redis/redisServer.ts";
import { importsIn, packagesIn } from "../support/imports.ts";
import { packGateway, packKit, runNpm } from "../support/package.ts";
import { watchProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const tarball = packGateway();
const folder = temporaryFolder();
runNpm(folder, "install", tarball);

const installed = join(folder, "node_modules/catalog-gateway");
const program = join(folder, "node_modules/.bin/catalog-gateway");
type Manifest = {
  build: string;
  engines: { node: string };
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
};
const manifestIn = (path: string) => JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;
const manifest = manifestIn(installed);

// The kit, in the empty project of a client's author.
const kitTarball = packKit();
const project = temporaryFolder();
const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
  devDependencies: Record<string, string>;
};
writeFileSync(join(project, "package.json"), '{ "type": "module" }');
runNpm(project, "install", kitTarball, ...["msw", "vitest"].map((name) => `${name}@${devDependencies[name]}`));
const kit = join(project, "node_modules/catalog-gateway-kit");

const megabytes = (bytes: number): number => bytes / 1024 ** 2;

/**
 * The Nodes to try, by their paths: this one, and the lowest that each package may run on. `.ci/run` sets `NODE_24` for
 * the gateway's, `NODE_22` for the kit's.
 */
const { NODE_24, NODE_22 } = process.env;
const nodes = [process.execPath, NODE_24].flatMap((path) => path ?? []);
const nodesOfKit = [process.execPath, NODE_22].flatMap((path) => path ?? []);

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

test("two packs of a commit are equal, at most 2 MB, and have the commit's build id", () => {
  expect(readFileSync(packGateway()).equals(readFileSync(tarball))).toBe(true);
  expect(megabytes(statSync(tarball).size)).toBeLessThan(2);
  expect(manifest.build).toBe(buildId());
});

test("an installation has at most 60 MB, and no package that reports installations", () => {
  const files = globSync("node_modules/**", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
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

describe.each([
  ["the package", installed, NODE_24],
  ["the kit", kit, NODE_22],
])("%s", (_, path, lowest) => {
  test.skipIf(lowest === undefined)("the lowest Node that it names is the version that is tested", () => {
    const { stdout } = spawnSync(lowest ?? "", ["-p", "process.versions.node"], { encoding: "utf8" });
    expect(manifestIn(path).engines.node).toBe(`>=${stdout.trim()}`);
  });

  test("its files import the packages that its manifest names, and no others", () => {
    const files = globSync("{src,transforms,libraries,features,tools,fixtures}/**/*.{js,cjs}", { cwd: path });
    const imports = files.flatMap((file) => importsIn(readFileSync(join(path, file), "utf8")));
    const { dependencies, peerDependencies } = manifestIn(path);
    expect(new Set(packagesIn(imports))).toEqual(new Set(Object.keys({ ...dependencies, ...peerDependencies })));
  });
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

  test("it reads, writes, parses large bodies in threads, serves pages, ends at SIGTERM", async () => {
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

test("the kit has at most 160 KB", () => {
  expect(statSync(kitTarball).size).toBeLessThan(160_000);
});

const readme = readFileSync(join(kit, "README.md"), "utf8");
const [, example = ""] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];
writeFileSync(join(project, "client.test.ts"), example);

test("a client of the kit is type-checked without the types of Node", () => {
  const client = `import { type Choice, type Exchange, labKeys, legacyHandlers, modernHandlers, type Pair } from "catalog-gateway-kit/fixtures";
    import { readPairs, serveHandlers } from "catalog-gateway-kit/fixtures";
    const choice: Choice = { endpoint: "getDataset" };
    const pairs: Pair[] = readPairs("getDataset");
    const exchanges: Exchange[] = pairs.flatMap(({ legacy }) => legacy);
    const { url } = await serveHandlers(...legacyHandlers(exchanges), ...modernHandlers(choice));
    export const all: (string | undefined)[] = [url, labKeys["0"]];
    // @ts-expect-error -- there is no such choice
    modernHandlers({ endpoints: "getDataset" });`;
  writeFileSync(join(project, "client.ts"), client);
  const options = ["--noEmit", "--strict", "--target", "esnext", "--module", "nodenext"];
  const check = (...more: string[]) => {
    const tsc = join(import.meta.dirname, "../../node_modules/typescript/bin/tsc");
    return spawnSync(process.execPath, [tsc, ...options, ...more], { cwd: project, encoding: "utf8" }).stdout;
  };
  expect(check("--types", "", "client.ts")).toBe("");
  // The declarations of vitest need more than a client of the kit.
  expect(check("--skipLibCheck", "client.test.ts")).toBe("");
});

describe.each(nodesOfKit)("the kit, run by %s", (node) => {
  const env = { PATH: process.env["PATH"], NO_COLOR: "1" };

  test("the example of its README passes in an empty project", () => {
    const args = [join(project, "node_modules/vitest/vitest.mjs"), "run"];
    const { status, stdout, stderr } = spawnSync(node, args, { cwd: project, env, encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([0, expect.stringMatching(/Tests +2 passed/), ""]);
  });

  test("its server answers both interfaces", async () => {
    const args = [join(project, "node_modules/.bin/catalog-gateway-kit"), "serve", "--port", "0"];
    const child = spawn(node, args, { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
    const [origin = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    const answers = ["/v1/datasets/61", "/api/v1/json/data/61"].map(async (path) =>
      (await fetch(origin + path)).json(),
    );
    expect(await Promise.all(answers)).toMatchObject([{ id: 61 }, { data_set_description: { id: "61" } }]);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
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
