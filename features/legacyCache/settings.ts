import { z } from "zod";
import {
  type KnownEndpoints,
  type Settings,
  type SettingsFragment,
  unknownEndpoints,
} from "../../src/operation/index.ts";

const shape = {
  CACHE_LEGACY: z
    .array(z.string())
    .default([])
    .describe(
      "Endpoints whose reads through legacy's own interface are answered from the cache: their names, or `all`, with a few other reads. The same bytes, sooner",
    ),
};

const errorsOf = ({ CACHE_LEGACY: names, CACHE_BYTES }: LegacyCacheSettings, endpoints: KnownEndpoints): string[] => [
  ...unknownEndpoints("CACHE_LEGACY", Object.fromEntries(names.map((name) => [name, true])), [
    ...Object.keys(endpoints),
    "all",
  ]),
  ...(names.length > 0 && CACHE_BYTES === 0
    ? [
        "CACHE_LEGACY: given with CACHE_BYTES 0, which caches nothing; allowed is any other CACHE_BYTES, or no CACHE_LEGACY",
      ]
    : []),
];

export const settings = {
  shape,
  group: "Cache and storage",
  isOn: ({ CACHE_LEGACY }: LegacyCacheSettings) => CACHE_LEGACY.length > 0,
  errorsOf,
} satisfies SettingsFragment;

/** All settings with those of the feature. */
export type LegacyCacheSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
