import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import about from "../../../package.json" with { type: "json" };
import type { Sample } from "./series.ts";

/** `build`: written into the package's manifest when it is packed. A clone has none. */
const { build } = about as { build?: string };

/**
 * Identifies the code that makes answers, so that entries which another build wrote to a shared store are not used. A
 * package has that of the clone which it was packed from: the hash of the folders with code and of
 * `package-lock.json`. A clone takes it once (some 20 ms), so that it stays that of the code which was started.
 *
 * @throws If there is neither one in package.json nor a lock file.
 */
export const buildId = (): string => build ?? (hashed ??= hashOf(join(import.meta.dirname, "../../..")));

let hashed: string | undefined;

/** The same on every machine: by the names and the content of the files in `root`, not by their times. */
export const hashOf = (root: string): string => {
  const files = globSync("{src,transforms,libraries,features,tools}/**/*.{ts,js,json,css}", { cwd: root }).toSorted();
  const hash = createHash("sha256");
  for (const file of [...files, "package-lock.json"]) {
    const content = readFileSync(join(root, file));
    hash.update(`${file.replaceAll("\\", "/")} ${content.length}\n`).update(content);
  }
  return hash.digest("base64url").slice(0, 16);
};

/**
 * What runs: the version of the package, the build of the code and of Node. The build is `unknown` where its files are
 * not there, as in a bundle.
 */
export const buildInfo = (): Sample => ({
  labels: { version: about.version, build: knownBuild(), node: process.version },
  value: 1,
});

const knownBuild = (): string => {
  try {
    return buildId();
  } catch {
    return "unknown";
  }
};
