import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/**
 * Makes an empty folder. It is removed when the process ends; in a test it lies in the folder of the
 * run, and goes with that.
 */
export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "catalog-gateway-"));
  // Servers that are started may run as other users.
  chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
};
