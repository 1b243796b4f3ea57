import { missingPrograms } from "./needs.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

/**
 * Before a run: says which programs are missing, and gives it a folder for all temporary files,
 * which goes when the run ends.
 */
export const setup = (): void => {
  const missing = missingPrograms();
  if (missing.length > 0)
    process.stderr.write(`Not installed: ${missing.join(", ")}. Tests that need them are skipped.\n`);
  process.env["TMPDIR"] = temporaryFolder();
};
