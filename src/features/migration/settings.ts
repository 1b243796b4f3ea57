import { z } from "zod";
import { comparedShape, wrongRoutes } from "../../modern/settings.ts";
import { baseUrl, bytes, count, milliseconds } from "../../settings/fields.ts";
import { type KnownEndpoints, type Settings, unknownEndpoints } from "../../settings/settings.ts";
import { stageSchema } from "./stage.ts";

export const shape = {
  MODERN_URL: baseUrl
    .optional()
    .describe("the new implementation: the URL below which its paths lie; without it every endpoint stays with legacy"),
  MODERN_TIMEOUT_MS: milliseconds(5_000).describe("for one answer of modern's, before legacy is asked instead"),
  ...comparedShape,
  STAGES: z
    .record(z.string(), stageSchema)
    .default({})
    .describe(
      'who answers, by endpoint: {"getDataset": {"stage": "shadow", "share": 10, "gate": {"parity": 0.999}}} (legacy, shadow, canary, modern)',
    ),
  FORCE_BACKEND: z.boolean().default(false).describe("requests may name their side: Gateway-Backend: legacy or modern"),
  MIRROR_CONCURRENCY: count(20).describe("comparisons at a time, beside the callers' requests"),
  MIRROR_RATE: count(50).describe("comparisons a second"),
  MIRROR_BYTES: bytes(16 * 1024 ** 2).describe("of answers a second that are compared"),
};

export type MigrationFeatureSettings = Settings & z.infer<z.ZodObject<typeof shape>>;

export const reloadable = ["STAGES", "EXPECTED_DIFFERENCES"];

export const errorsOf = (settings: MigrationFeatureSettings, endpoints: KnownEndpoints): string[] => {
  const all = Object.keys(endpoints);
  return [
    ...unknownEndpoints("STAGES", settings.STAGES, all),
    ...wrongRoutes(settings, endpoints),
    ...wrongTimeout(settings),
  ];
};

const wrongTimeout = ({ MODERN_URL, MODERN_TIMEOUT_MS, TOTAL_TIMEOUT_MS }: MigrationFeatureSettings): string[] =>
  MODERN_URL === undefined || MODERN_TIMEOUT_MS < TOTAL_TIMEOUT_MS
    ? []
    : [
        `MODERN_TIMEOUT_MS: ${MODERN_TIMEOUT_MS} given; allowed is less than TOTAL_TIMEOUT_MS (${TOTAL_TIMEOUT_MS}), so that legacy has time to answer instead`,
      ];
