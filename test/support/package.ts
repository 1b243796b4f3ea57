import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { buildKit } from "../../tools/kit/buildKit.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

const root = join(import.meta.dirname, "../..");

/** Runs npm in a folder. Its cache is a folder of this run, which is empty at first. */
export const runNpm = (folder: string, ...args: string[]): void => {
  cache ??= temporaryFolder();
  execFileSync("npm", [...args, "--cache", cache, "--loglevel", "error"], { cwd: folder, stdio: "pipe" });
};
let cache: string | undefined;

/** Packs the build into `dist`. Returns the tarball's path. */
const pack = (write: (dist: string) => void): string => {
  const folder = mkdtempSync(join(temporaryFolder(), "pack-"));
  const dist = join(folder, "dist");
  write(dist);
  runNpm(folder, "pack", dist);
  const [tarball = ""] = globSync("*.tgz", { cwd: folder });
  return join(folder, tarball);
};

/** Packs the gateway as `npm run pack` does. */
export const packGateway = (): string =>
  pack((dist) => execFileSync(process.execPath, [join(root, "tools/pack/main.ts"), dist], { stdio: "pipe" }));

/** Packs the kit as `npm run build:kit` writes it. */
export const packKit = (): string => pack(buildKit);
