import { z } from "zod";
import type { Settings, SettingsFragment } from "../../src/operation/index.ts";

const shape = {
  DATA_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Directory for what was set at run time, and for what the scan for private datasets found. Both then survive a restart. The start fails if it cannot be made or written to",
    ),
};

/** What the stores add to the settings; `REDIS_URL`, which comes first, is the core's. */
export const settings = { shape, group: "Cache and storage", usual: ["DATA_DIR"] } satisfies SettingsFragment;

export type DataSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
