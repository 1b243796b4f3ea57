import { z } from "zod";
import type { DataSettings } from "../../libraries/stores/settings.ts";
import type { SettingsFragment } from "../../src/operation/index.ts";

const shape = {
  CACHE_DISK_BYTES: z
    .int()
    .min(64 * 1024 ** 2)
    .max(1024 ** 4)
    .optional()
    .describe(
      "Room in `DATA_DIR` for cached answers that memory has no room for, in bytes. They also survive a restart, for failures of legacy",
    ),
};

const errorsOf = ({ CACHE_DISK_BYTES, DATA_DIR, REDIS_URL, CACHE_BYTES }: DiskCacheSettings): string[] => {
  if (CACHE_DISK_BYTES === undefined || REDIS_URL !== undefined) return [];
  if (DATA_DIR === undefined)
    return ["CACHE_DISK_BYTES: given without DATA_DIR; allowed is both, since the answers are stored there"];
  return CACHE_BYTES > 0
    ? []
    : ["CACHE_DISK_BYTES: given with CACHE_BYTES 0, which caches nothing; allowed is any other CACHE_BYTES"];
};

const warningsOf = ({ CACHE_DISK_BYTES, REDIS_URL }: DiskCacheSettings): string[] =>
  CACHE_DISK_BYTES === undefined || REDIS_URL === undefined
    ? []
    : [
        "CACHE_DISK_BYTES: given with REDIS_URL, which caches answers instead: nothing is cached on the disk; better is one of both",
      ];

export const settings = {
  shape,
  group: "Cache and storage",
  isOn: ({ CACHE_DISK_BYTES, REDIS_URL }: DiskCacheSettings): boolean =>
    CACHE_DISK_BYTES !== undefined && REDIS_URL === undefined,
  errorsOf,
  warningsOf,
} satisfies SettingsFragment;

export type DiskCacheSettings = DataSettings & z.infer<z.ZodObject<typeof shape>>;
