import { execFile } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const root = join(import.meta.dirname, "../..");
const features = readdirSync(join(root, "features"), { withFileTypes: true })
  .filter((one) => one.isDirectory())
  .map(({ name }) => name);

/** What is compiled: everything but the tests. */
const parts = ["src", "transforms", "libraries", "features", "tools"];

/** The compiler's output without the folders of features and their lines in the list. */
const compiledWithout = async (gone: readonly string[]): Promise<string> => {
  const copy = temporaryFolder();
  for (const part of [...parts, "fixtures", "package.json"])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  for (const feature of gone) rmSync(join(copy, "features", feature), { recursive: true });
  const list = join(copy, "features/index.ts");
  const lines = readFileSync(list, "utf8").split("\n");
  const left = lines.filter((line) => !gone.some((feature) => line.includes(`./${feature}/`)));
  expect(lines.length - left.length).toBe(gone.length);
  writeFileSync(list, left.join("\n"));
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")) as {
    compilerOptions: object;
  };
  writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ compilerOptions, include: parts }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  // One checker and a roomier heap: a third of the processor time.
  const options = { env: { ...process.env, GOGC: "400" } };
  return promisify(execFile)(process.execPath, [tsc, "-p", copy, "--singleThreaded"], options).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; message: string }) => error.stdout || error.message,
  );
};

test("there are features", () => {
  expect(features.length).toBeGreaterThan(0);
});

// The core imports no feature, and no feature another one (floors.test.ts): what compiles without half of them compiles
// without any one of them.
test("without either half of the features all else compiles", async () => {
  const [even, odd] = [0, 1].map((half) => features.filter((_, i) => i % 2 === half)) as [string[], string[]];
  expect(await compiledWithout(even)).toBe("");
  expect(await compiledWithout(odd)).toBe("");
});
