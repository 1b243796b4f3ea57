import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { settingsOf } from "../../support/settings.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

/** Writes a file of this name into a directory of its own, and gives its path. */
export const fileWith = (content: string, name = "config.json", mode = 0o600): string => {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content, { mode });
  return path;
};

type Environment = Record<string, string>;

/** The settings; throws where they have errors. */
export const settingsIn = (environment: Environment) => {
  const loaded = settingsOf(environment);
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  return loaded.settings;
};

/** The errors in the settings. */
export const errorsIn = (environment: Environment): string[] => {
  const loaded = settingsOf(environment);
  return "errors" in loaded ? loaded.errors : [];
};

/** The warnings of the start, or its errors if it is refused. */
export const warningsIn = (environment: Environment): string[] => {
  const loaded = settingsOf(environment);
  return "errors" in loaded ? loaded.errors : loaded.warnings;
};

/**
 * Expects a wrong field within a setting, in the environment and in the file, to be named with its place and the
 * allowed values. Nothing else is wrong.
 */
export const expectNamed = (name: string, value: unknown, place: string, allowed: string): void => {
  for (const found of [
    errorsIn({ [name]: JSON.stringify(value) }),
    errorsIn({ CONFIG: fileWith(JSON.stringify({ [name]: value })) }),
  ]) {
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${name}${place}given in `);
    expect(found[0]).toContain(`; allowed is ${allowed}`);
  }
};
