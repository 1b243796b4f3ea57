import { z } from "zod";
import type { Settings, SettingsFragment } from "../../src/operation/index.ts";

const shape = {
  DOCUMENTS: z
    .boolean()
    .default(true)
    .describe(
      "Whether the gateway serves `openapi.json`, `docs` and `problems` below each prefix, and `/.well-known/api-catalog` (RFC 9727)",
    ),
};

export const settings = {
  shape,
  group: "Where it listens",
  isOn: ({ DOCUMENTS }: DocumentsSettings) => DOCUMENTS,
} satisfies SettingsFragment;

export type DocumentsSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
