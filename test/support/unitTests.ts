import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { importsIn } from "./imports.ts";

const root = join(import.meta.dirname, "../..");

/** Modules that start a process or a thread, or that use sockets. */
const outside =
  /^(node:(child_process|cluster|dgram|http|https|net|tls|worker_threads)|@redis\/client|playwright-core|undici)$/;
const outsideOfSrc =
  /^src\/gateway\/(openGateway|server|http\/httpServer|operators\/adminServer|upstream\/upstream)\.ts$/;

/**
 * Which modules of tests and fixtures reach outside of their process, by their own imports or those of their helpers.
 */
const known = new Map<string, boolean>();
const reachesOutside = (file: string): boolean => {
  const before = known.get(file);
  if (before !== undefined) return before;
  // Where modules import one another.
  known.set(file, false);
  const found = importsIn(readFileSync(file, "utf8")).some((name) => {
    if (!name.startsWith(".")) return outside.test(name);
    const path = join(file, "..", name);
    const inProject = relative(root, path);
    if (outsideOfSrc.test(inProject)) return true;
    return /^(test|fixtures|tools\/sampleLegacy)\/.*\.ts$/.test(inProject) && reachesOutside(path);
  });
  known.set(file, found);
  return found;
};

/**
 * The unit lane: the test files that start no process and wait for no socket, found by what they
 * and their helpers import.
 */
export const unitTests = (): string[] =>
  globSync("test/**/*.test.ts", { cwd: root }).filter((file) => !reachesOutside(join(root, file)));
