import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const features = readdirSync(join(root, "src/features"), { withFileTypes: true })
  .filter((one) => one.isDirectory())
  .map(({ name }) => name);

/** The compiler's output for `src` and `transforms` without a feature's folder and its line in the list. */
const compiledWithout = async (feature: string): Promise<string> => {
  const copy = mkdtempSync(join(tmpdir(), "without-"));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const part of ["src", "transforms", "fixtures", "package.json"])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  rmSync(join(copy, "src/features", feature), { recursive: true });
  const list = join(copy, "src/features/index.ts");
  const lines = readFileSync(list, "utf8").split("\n");
  const left = lines.filter((line) => !line.includes(`./${feature}/`));
  expect(lines.length - left.length).toBe(1);
  writeFileSync(list, left.join("\n"));
  const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")) as {
    compilerOptions: object;
  };
  writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src", "transforms"] }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  // One checker and a roomier heap: a third of the processor time.
  const options = { env: { ...process.env, GOGC: "400" } };
  return promisify(execFile)(process.execPath, [tsc, "-p", copy, "--singleThreaded"], options).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; message: string }) => error.stdout || error.message,
  );
};

test("there are features", () => {
  expect(features.length).toBeGreaterThanOrEqual(5);
});

test("without the folder of any feature and its line all else compiles", async () => {
  const left = features.values();
  const said: Record<string, string> = {};
  const work = async () => {
    for (const feature of left) said[feature] = await compiledWithout(feature);
  };
  // Two at a time: a compiler takes 350 MB.
  await Promise.all([work(), work()]);
  expect(said).toEqual(Object.fromEntries(features.map((feature) => [feature, ""])));
});
