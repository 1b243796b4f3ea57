import { execFileSync } from "node:child_process";
import { cpSync, globSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import about from "../../package.json" with { type: "json" };

/** The name of the kit's package and of its program: `npx NAME` runs the program of that package only. */
const NAME = "catalog-gateway-kit";

/** The package.json of the kit. */
export const kitManifest = {
  name: NAME,
  version: about.version,
  description: "The legacy catalogue interface and the new one for tests: msw handlers, and a server for any language.",
  license: about.license,
  type: "module",
  exports: { "./fixtures": { types: "./fixtures/index.d.ts", default: "./fixtures/index.js" } },
  bin: { [NAME]: "./tools/serveKit/main.js" },
  peerDependencies: { msw: `^${about.devDependencies.msw}` },
  engines: { node: ">=22" },
};

/**
 * Writes the package of fixtures and handlers into `kit/`. Returns a line that says how to pack it.
 *
 * @throws If it cannot be compiled or written.
 */
export const buildKit = (): string => {
  // The kit is a compiled package: Node strips no types below node_modules, and clients do not need
  // the gateway's dependencies.
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const kit = join(root, "kit");
  rmSync(kit, { recursive: true, force: true });
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.kit.json"], {
    cwd: root,
    stdio: "inherit",
  });
  for (const path of globSync("fixtures/*.json", { cwd: root })) cpSync(join(root, path), join(kit, path));
  cpSync(join(root, "LICENSE"), join(kit, "LICENSE"));
  cpSync(join(import.meta.dirname, "package.md"), join(kit, "README.md"));
  writeFileSync(join(kit, "package.json"), `${JSON.stringify(kitManifest, undefined, 2)}\n`);
  return `kit/ is ${NAME} ${about.version}: npm pack ./kit`;
};
