import { execFileSync } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onlyHelp } from "../onlyHelp.ts";

onlyHelp(`npm run build:kit
  Writes the package of fixtures and handlers into kit/, for npm pack ./kit.`);

// The kit is a compiled package: Node strips no types below node_modules, and clients do not need the gateway's dependencies.
const root = fileURLToPath(new URL("../../../", import.meta.url));
const kit = join(root, "kit");
const { name, version, license, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  name: string;
  version: string;
  license: string;
  devDependencies: { msw: string };
};

rmSync(kit, { recursive: true, force: true });
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.kit.json"], {
  cwd: root,
  stdio: "inherit",
});
for (const path of globSync("fixtures/*/*.{legacy,expected}.json", { cwd: root }))
  cpSync(join(root, path), join(kit, path));
cpSync(join(root, "LICENSE"), join(kit, "LICENSE"));
cpSync(join(import.meta.dirname, "package.md"), join(kit, "README.md"));
const description =
  "The legacy catalogue interface and the new one for tests: msw handlers, and a server for any language.";
const entry = { types: "./fixtures/index.d.ts", default: "./fixtures/index.js" };
const manifest = {
  name,
  version,
  description,
  license,
  type: "module",
  exports: { "./fixtures": entry },
  bin: { "catalog-gateway-kit": "./src/tools/serveKit/main.js" },
  peerDependencies: { msw: `^${devDependencies.msw}` },
  engines: { node: ">=22" },
};
writeFileSync(join(kit, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
console.log(`kit/ is ${name} ${version}: npm pack ./kit`);
