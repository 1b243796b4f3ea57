import type { SettingsOf } from "../src/operation/index.ts";
import { settings as stores } from "../libraries/stores/settings.ts";
import { settings as sharedCache } from "./sharedCache/settings.ts";
import { settings as diskCache } from "./diskCache/settings.ts";
import { settings as webhook } from "./webhook/settings.ts";
import { settings as privateDatasets } from "./privateDatasets/settings.ts";
import { settings as migration } from "./migration/settings.ts";
import { settings as retirement } from "./retirement/settings.ts";
import { settings as rateLimit } from "./rateLimit/settings.ts";
import { settings as accessLog } from "./accessLog/settings.ts";
import { settings as tracing } from "./tracing/settings.ts";
import { settings as documents } from "./documents/settings.ts";
import { settings as operators } from "../src/gateway/operators/settings.ts";

/** The settings of each feature, in the order in which `--help` shows them. */
export const fragmentOf = {
  stores,
  sharedCache,
  diskCache,
  webhook,
  privateDatasets,
  migration,
  retirement,
  rateLimit,
  accessLog,
  tracing,
  documents,
  operators,
};

/** The settings of all features. */
export const fragments = Object.values(fragmentOf);

/** The core's settings, and those of all features. */
export type AllSettings = SettingsOf<(typeof fragments)[number]>;
