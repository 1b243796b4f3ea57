import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a directory that is deleted when the benchmark ends. */
export const temporaryDirectory = (name: string): string => {
  const directory = mkdtempSync(join(tmpdir(), `bench-${name}-`));
  // A peer's worker may run as another user.
  chmodSync(directory, 0o755);
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
