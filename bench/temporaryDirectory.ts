import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory that is gone when the benchmark has ended. */
export const temporaryDirectory = (name: string): string => {
  const directory = mkdtempSync(join(tmpdir(), `bench-${name}-`));
  // A worker of a peer's may run as another user.
  chmodSync(directory, 0o755);
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
