import { z } from "zod";
import { count } from "../../settings/fields.ts";

/** The settings of this feature. */
export const shape = {
  LEGACY_ADMIN_KEY: z
    .string()
    .regex(/^[A-Za-z0-9]{1,64}$/, "1-64 letters and digits")
    .optional()
    .describe("an administrator's key: private datasets are looked for with it, and listed to administrators"),
  PRIVATE_WALK_RATE: count(10).describe("requests a second to legacy at most, while private datasets are looked for"),
};

/** Those of them that no log may show. */
export const secrets = ["LEGACY_ADMIN_KEY"];

/** Whether the feature is loaded. */
export const isOn = (settings: { LEGACY_ADMIN_KEY?: string | undefined }): boolean =>
  settings.LEGACY_ADMIN_KEY !== undefined;

/** What operators read where it is off. */
export const whenOff = {
  setting: "LEGACY_ADMIN_KEY",
  effect: "administrators are listed no private datasets but their own",
  section: {
    id: "private-rows",
    title: "Private datasets",
    about: "What legacy's list keeps from administrators, and the search for it, id by id.",
  },
};
