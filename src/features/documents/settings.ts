import { z } from "zod";
import type { Settings } from "../../settings/settings.ts";

const shape = {
  DOCUMENTS: z
    .boolean()
    .default(true)
    .describe("openapi.json, docs and problems below each prefix, which describe the new interface"),
  API_CATALOG: z
    .boolean()
    .default(true)
    .describe("whether /.well-known/api-catalog (RFC 9727) is the gateway's; otherwise legacy answers it"),
  ROOT: z
    .enum(["legacy", "docs"])
    .default("legacy")
    .describe("who answers /: legacy, or the reference of the first prefix"),
};

type Given = z.infer<z.ZodObject<typeof shape>>;

const errorsOf = ({ DOCUMENTS, ROOT }: Given): string[] =>
  !DOCUMENTS && ROOT === "docs" ? ["ROOT: docs given with DOCUMENTS=false; allowed is legacy"] : [];

/** What the feature adds to the settings. */
export const documentsSettings = { shape, isOn: ({ DOCUMENTS }: Given) => DOCUMENTS, errorsOf };

/** All settings with those of the feature. */
export type DocumentsSettings = Settings & Given;
