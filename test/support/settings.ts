import { fragments as precise } from "../../features/settings.ts";
import { loadSettings } from "../../src/operation/settings/load.ts";
import type { SettingsFragment } from "../../src/operation/settings/settings.ts";
import { catalogue } from "../../transforms/catalogue.ts";

/** The endpoints that settings may name. */
export const known = catalogue.endpoints;

/** The settings that features add. */
export const fragments: readonly SettingsFragment[] = precise;

/** The settings that an environment gives, or its errors. */
export const settingsOf = (environment: Record<string, string | undefined>) =>
  loadSettings(environment, known, precise);
