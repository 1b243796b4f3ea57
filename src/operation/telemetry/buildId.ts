import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import about from "../../../package.json" with { type: "json" };
import type { Sample } from "./series.ts";

/** `build`: written into the package's manifest when it is packed. A clone has no `build`. */
const { build } = about as { build?: string };

/**
 * Identifies the code that makes answers, so that the gateway does not use entries which another build wrote to a
 * shared store. A package has the id of the clone that it was packed from: the hash of the folders with code and of
 * `package-lock.json`. A clone computes it once (some 20 ms), so that it stays the id of the code that was started.
 *
 * @throws An Error if package.json has no `build` and there is no lock file.
 */
export const buildId = (): string => build ?? (hashed ??= hashOf(join(import.meta.dirname, "../../..")));

let hashed: string | undefined;

/** The same on every machine: made from the names and the content of the files in `root`, not from their times. */
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
 * The running version: that of the package, the build of the code, and that of Node. The build is `unknown` if its
 * files are missing, as in a bundle.
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
