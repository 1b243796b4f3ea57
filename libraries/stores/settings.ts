import { z } from "zod";
import { fields, type Settings, type SettingsFragment } from "../../src/operation/index.ts";

/** True if the Redis client accepts the URL; so an error can name the setting. */
const isRedisUrl = (text: string): boolean => {
  try {
    const { pathname, username, password } = new URL(text);
    for (const part of [username, password]) decodeURIComponent(part);
    return /^rediss?:\/\/\S+$/.test(text) && /^\/?\d*$/.test(pathname);
  } catch {
    return false;
  }
};

const aUrl = "a URL such as redis://127.0.0.1:6379/0, a % in its password written %25";

const shape = {
  REDIS_URL: z
    .string(aUrl)
    .refine(isRedisUrl, aUrl)
    .optional()
    .describe("URL of a Redis or Valkey that several gateways share"),
  DATA_DIR: fields
    .text("the path of a directory", /./)
    .optional()
    .describe(
      "Directory for what was set at run time, and for what the scan for private datasets found. Both then survive a restart. The start fails if it cannot be made or written to",
    ),
};

/** The settings of the stores. */
export const settings = {
  shape,
  group: "Cache and storage",
  usual: ["REDIS_URL", "DATA_DIR"],
  secrets: ["REDIS_URL"],
} satisfies SettingsFragment;

/** All settings, with those of the stores. */
export type DataSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
