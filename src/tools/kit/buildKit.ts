import { execFileSync } from "node:child_process";
import { cpSync, globSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import about from "../../../package.json" with { type: "json" };
import { kitManifest } from "./manifest.ts";

/** Writes the package of fixtures and handlers into `kit/`, and says how to pack it. */
export const buildKit = (): string => {
  // The kit is a compiled package: Node strips no types below node_modules, and clients do not need the gateway's dependencies.
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const kit = join(root, "kit");
  rmSync(kit, { recursive: true, force: true });
  execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.kit.json"], {
    cwd: root,
    stdio: "inherit",
  });
  for (const path of globSync("fixtures/*.json", { cwd: root })) cpSync(join(root, path), join(kit, path));
  cpSync(join(root, "LICENSE"), join(kit, "LICENSE"));
  cpSync(join(import.meta.dirname, "package.md"), join(kit, "README.md"));
  const manifest = kitManifest(about);
  writeFileSync(join(kit, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return `kit/ is ${manifest.name} ${manifest.version}: npm pack ./kit`;
};
