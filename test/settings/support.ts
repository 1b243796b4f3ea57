import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** Writes a file of this name into a directory of its own, and gives its path. */
export const fileWith = (content: string, name = "config.json", mode = 0o600): string => {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content, { mode });
  return path;
};
