import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Defined where the gateway is bundled or compiled: by the bundler's `define`, or as a property of `globalThis`. */
declare const BUILD_ID: string | undefined;

/**
 * Identifies the code that makes answers, so that entries which another build wrote to a shared store are not used. It
 * is the constant `BUILD_ID` where a build defines one, else the hash of the folders with code and of
 * `package-lock.json`: some 20 ms, taken once, so that it stays that of the code which was started.
 *
 * @throws If there is no such constant and no lock file.
 */
export const buildId = (): string =>
  typeof BUILD_ID === "string" ? BUILD_ID : (hashed ??= hashOf(join(import.meta.dirname, "../../..")));

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
