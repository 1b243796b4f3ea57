import { describe } from "vitest";

/**
 * As `describe`, for tests that need an installed program. Without it they are skipped with a line on the standard error;
 * where `CI` is set they fail, so that a green run has tested everything.
 */
export const describeWith = (program: string, isInstalled: boolean, name: string, tests: () => void): void => {
  if (!isInstalled && process.env["CI"])
    throw new Error(`${program} is not installed, and CI is set: install it to run "${name}"`);
  if (!isInstalled) process.stderr.write(`\n!!! SKIPPED, no ${program} is installed: ${name}\n\n`);
  // oxlint-disable-next-line vitest/valid-describe-callback, vitest/valid-title -- they are the caller's
  describe.skipIf(!isInstalled)(name, tests);
};
