import { execFileSync, spawn } from "node:child_process";
import { cpSync, globSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildId, hashOf } from "../../../src/operation/telemetry/buildId.ts";
import { describeWithRedis, startRedis } from "../store/redis/redisServer.ts";
import { watchProgram } from "../../support/program.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const root = join(import.meta.dirname, "../../..");

const write = (directory: string, path: string, text: string): void => {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text);
};

test("the build id follows names and content of source, transforms and lock file", () => {
  const directory = temporaryFolder();
  const files = { "src/a.ts": "1", "src/b/c.css": "2", "transforms/d.json": "3", "package-lock.json": "4" };
  for (const [path, text] of Object.entries(files)) write(directory, path, text);
  const ids = [hashOf(directory)];
  for (const path of Object.keys(files)) {
    write(directory, path, "changed");
    ids.push(hashOf(directory));
  }
  write(directory, "src/new.ts", "");
  ids.push(hashOf(directory));
  expect(new Set(ids).size).toBe(6);
  for (const [path, text] of Object.entries(files)) write(directory, path, text);
  rmSync(join(directory, "src/new.ts"));
  expect(hashOf(directory)).toBe(ids[0]);
});

test("a folder without package-lock.json has no build id; this checkout has one", () => {
  expect(() => hashOf(temporaryFolder())).toThrow(/package-lock\.json/);
  expect(buildId()).toMatch(/^[\w-]{16}$/);
});

/** The gateway as JavaScript alone, with its assets: no TypeScript source, no lock file. */
const compile = (): string => {
  const directory = temporaryFolder();
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      noCheck: true,
      rewriteRelativeImportExtensions: true,
      rootDir: root,
      outDir: directory,
      typeRoots: [join(root, "node_modules/@types")],
    },
    files: ["src/main.ts", "src/gateway/threads/thread.ts", "transforms/index.ts"].map((file) => join(root, file)),
    include: [],
  };
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(config));
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", directory]);
  for (const asset of globSync("{src,transforms,fixtures}/**/*.{js,cjs,css,json}", { cwd: root }))
    cpSync(join(root, asset), join(directory, asset));
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  writeFileSync(join(directory, "constant.js"), 'globalThis.BUILD_ID = "release-7";');
  return directory;
};

describeWithRedis("a build of JavaScript alone", () => {
  test("a compiled gateway serves, reads in its threads, and shares entries by its constant", async () => {
    const directory = compile();
    expect(globSync("{src,transforms,fixtures}/**/*.ts", { cwd: directory })).toEqual([]);
    const redis = await startRedis();
    const program = watchProgram(
      spawn(process.execPath, ["--import", "./constant.js", "src/main.js"], {
        cwd: directory,
        env: { PATH: process.env["PATH"], PORT: "0", ADMIN_PORT: "0", REDIS_URL: redis.url, LOG_LEVEL: "silent" },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
    onTestFinished(() => void program.child.kill());
    const url = await program.listening();
    // So large a body is read in a thread, which loads modules of its own.
    const body = '{"limit":1}'.padStart(100_000);
    const list = await fetch(`${url}/v1/datasets/list`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    expect([list.status, await list.json()]).toEqual([200, [expect.any(Object)]]);
    await expect
      .poll(async () => {
        const { status } = await fetch(`${url}/v1/datasets/61`, { headers: { "Cache-Control": "no-cache" } });
        return [status, await redis.talk("KEYS catalog-gateway:1:e:*")];
      })
      .toEqual([200, expect.stringContaining("e:release-7:")]);
  });
});
