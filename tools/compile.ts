import { execFileSync } from "node:child_process";
import { cpSync, globSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the clone. */
export const root = fileURLToPath(new URL("../", import.meta.url));

/** A package that is compiled from this clone, since Node strips no types below `node_modules`. */
type CompiledPackage = {
  /** The compiler's configuration, by its name in the clone. */
  project: string;
  /** The folder of the package; its present content is removed. */
  folder: string;
  /** Patterns of the files that are copied unchanged. */
  assets: readonly string[];
  manifest: object;
  readme: string;
};

/**
 * Writes a package: the compiled files, the assets, the licence, the README and package.json.
 *
 * @throws If it cannot be compiled or written.
 */
export const compilePackage = ({ project, folder, assets, manifest, readme }: CompiledPackage): void => {
  rmSync(folder, { recursive: true, force: true });
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", project, "--outDir", folder], { cwd: root, stdio: "inherit" });
  for (const path of globSync([...assets, "LICENSE"], { cwd: root })) cpSync(join(root, path), join(folder, path));
  cpSync(readme, join(folder, "README.md"));
  writeJson(join(folder, "package.json"), manifest);
};

/** Writes a value as npm writes its files. */
export const writeJson = (file: string, value: object): void =>
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
