import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Writes a file of this name into a directory of its own, and gives its path. */
export const fileWith = (content: string, name = "config.json", mode = 0o600): string => {
  const path = join(mkdtempSync(join(tmpdir(), "config-")), name);
  writeFileSync(path, content, { mode });
  return path;
};
