import { execFileSync, spawn } from "node:child_process";
import { cpSync, globSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeWithRedis, startRedis } from "../libraries/stores/redis/redisServer.ts";
import { watchProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const root = join(import.meta.dirname, "../..");

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
  for (const asset of globSync("{src,transforms,libraries,features,tools,fixtures}/**/*.{js,cjs,css,json}", {
    cwd: root,
  }))
    cpSync(join(root, asset), join(directory, asset));
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  writeFileSync(join(directory, "constant.js"), 'globalThis.BUILD_ID = "release-7";');
  return directory;
};

describeWithRedis("a build of JavaScript alone", () => {
  test("a compiled gateway serves, reads in threads, and shares entries by its constant", async () => {
    const directory = compile();
    expect(globSync("{src,transforms,libraries,features,tools,fixtures}/**/*.ts", { cwd: directory })).toEqual([]);
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
