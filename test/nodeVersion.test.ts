import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "./support/temporaryFolder.ts";

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  scripts: Record<string, string>;
  engines: { node: string };
};

/** Runs Node as if it were another version, whose `node:module` has nothing that is newer. */
const runAs = (version: string, ...args: string[]) => {
  const pretend = join(temporaryFolder(), "pretend.cjs");
  writeFileSync(
    pretend,
    `Object.defineProperty(process, "version", { value: "v${version}" });
     Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });
     if (parseInt("${version}") < 22) require("node:module").registerHooks({
       resolve: (name, context, next) =>
         name === "node:module"
           ? { url: "data:text/javascript,export default {}", format: "module", shortCircuit: true }
           : next(name, context),
     });`,
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, ["-r", pretend, ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] },
  });
  return { status, stdout, stderr };
};

const needed = Number(/^>=(\d+)$/.exec(manifest.engines.node)?.[1]);
const line = (version: string) =>
  expect.stringMatching(new RegExp(`^catalog-gateway needs Node ${needed} or later; this is v${version}: [^\\n]*\\n$`));

test("an older Node prints one line and exits with 2", () => {
  for (const version of ["18.20.8", "20.20.2", "24.21.0", `${needed - 1}.9.0`]) {
    const preloaded = runAs(version, "-r", "./src/nodeVersion.cjs", "tools/docs/nothing.ts");
    expect(preloaded).toEqual({ status: 2, stdout: "", stderr: line(version) });
    expect(runAs(version, "src/main.ts", "--version")).toEqual(preloaded);
  }
  expect(runAs(`${needed}.0.0`, "src/main.ts", "--version")).toMatchObject({ status: 0, stderr: "" });
});

test("the version in package.json is compared up to its last part", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "src"));
  cpSync("src/nodeVersion.cjs", join(folder, "src/nodeVersion.cjs"));
  writeFileSync(join(folder, "package.json"), '{"engines": {"node": ">=24.11.1"}}');
  const statusOf = (version: string) => runAs(version, join(folder, "src/nodeVersion.cjs")).status;
  const older = ["18.20.8", "24.9.9", "24.11.0"];
  const newer = ["24.11.1", "24.11.10", "24.12.0", "25.0.0", "26.0.0-nightly20260101", "100.0.0"];
  expect([older, newer].map((versions) => versions.map(statusOf))).toEqual([older.map(() => 2), newer.map(() => 0)]);
});

test("npm start checks Node's version before it gives options an older Node refuses", () => {
  const [program, file = ""] = manifest.scripts["prestart"]?.split(" ") ?? [];
  expect(program).toBe("node");
  expect(runAs("20.20.2", file)).toEqual({ status: 2, stdout: "", stderr: line("20.20.2") });
  expect(runAs(`${needed}.0.0`, file)).toEqual({ status: 0, stdout: "", stderr: "" });
});

test("every script of npm that runs TypeScript checks Node's version first", () => {
  const scripts = Object.entries(manifest.scripts).filter(([, script]) => script.includes(".ts"));
  expect(scripts.map(([name]) => name)).toEqual(
    expect.arrayContaining(["start", "compare", "record", "docs", "build:kit"]),
  );
  for (const [name, script] of scripts)
    expect([name, script]).toEqual([
      name,
      expect.stringMatching(/\bnode (--\S+ )*-r \.\/src\/nodeVersion\.cjs \S+\.ts\b/),
    ]);
});
