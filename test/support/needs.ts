import { existsSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { describe } from "vitest";
import { hasFeatures } from "./hasFeatures.ts";

/** The programs that tests need beside npm, by Debian's names, with their other names; of a library also its folder. */
const programs = {
  "redis-server": [],
  chromium: ["chromium-browser", "google-chrome"],
  openssl: [],
  curl: [],
  promtool: [],
  nginx: [],
  caddy: [],
  "systemd-analyze": [],
  "python3-sklearn": ["/usr/lib/python3/dist-packages/sklearn"],
} as const satisfies Record<string, readonly string[]>;
type Program = keyof typeof programs;
/** Only the slow lane needs these. */
const slow: ReadonlySet<string> = new Set<Program>([
  "promtool",
  "nginx",
  "caddy",
  "systemd-analyze",
  "python3-sklearn",
]);

/** The path of a program; `undefined` where it is not installed. */
export const programPath = (program: Program): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((folder) => [program, ...programs[program]].map((name) => resolve(folder, name)))
    .find((path) => existsSync(path));

/** The programs that are not installed, for the notice at the start of a run. */
export const missingPrograms = (): string[] =>
  (Object.keys(programs) as Program[])
    .filter((program) => process.env["LANE"] === "slow" || !slow.has(program))
    .filter((program) => programPath(program) === undefined);

/**
 * As `describe`, for tests that need an installed program. Without it they are skipped; where `CI` is set they fail.
 * Redis is for features alone: without these its tests are left out.
 */
export const describeWith = (program: Program, name: string, tests: () => void): void => {
  const isInstalled = programPath(program) !== undefined;
  const isOfFeatures = program === "redis-server";
  if (!isInstalled && process.env["CI"])
    throw new Error(`${program} is not installed, and CI is set: install it to run "${name}"`);
  // oxlint-disable-next-line vitest/valid-describe-callback, vitest/valid-title -- they are the caller's
  describe.skipIf(!isInstalled || (isOfFeatures && !hasFeatures))(name, tests);
};
