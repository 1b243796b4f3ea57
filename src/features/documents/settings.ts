import { z } from "zod";
import type { Settings } from "../../operation/settings/settings.ts";

const shape = {
  DOCUMENTS: z
    .boolean()
    .default(true)
    .describe(
      "Whether the gateway serves `openapi.json`, `docs` and `problems` below each prefix, and `/.well-known/api-catalog` (RFC 9727)",
    ),
};

type Given = z.infer<z.ZodObject<typeof shape>>;

/** What the feature adds to the settings. */
export const documentsSettings = { shape, group: "Where it listens", isOn: ({ DOCUMENTS }: Given) => DOCUMENTS };

/** All settings with those of the feature. */
export type DocumentsSettings = Settings & Given;
