import { features } from "../../features/index.ts";
import { loadSettings } from "../../src/operation/settings/load.ts";
import { catalogue } from "../../transforms/catalogue.ts";

/** What settings may name. */
export const known = catalogue.endpoints;

/** What features add to the settings. */
export const fragments = features.map(({ settings }) => settings);

/** The settings that an environment gives, or what is wrong with it. */
export const settingsOf = (environment: Record<string, string | undefined>) =>
  loadSettings(environment, known, fragments);
