import { writeFileSync } from "node:fs";
import { join } from "node:path";
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

/** What is wrong with the settings. */
export const errorsIn = (environment: Environment): string[] => {
  const loaded = settingsOf(environment);
  return "errors" in loaded ? loaded.errors : [];
};

/** What the start warns of; where it is refused, its errors. */
export const warningsIn = (environment: Environment): string[] => {
  const loaded = settingsOf(environment);
  return "errors" in loaded ? loaded.errors : loaded.warnings;
};
