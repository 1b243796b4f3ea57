import { z } from "zod";
import { comparedShape, wrongRoutes } from "../../libraries/modern/settings.ts";
import {
  fields,
  type KnownEndpoints,
  type Settings,
  type SettingsFragment,
  unknownEndpoints,
  unusedCertificates,
} from "../../src/operation/index.ts";
import { configuredStageSchema } from "./stage.ts";

const shape = {
  MODERN_URL: fields.baseUrl
    .optional()
    .describe("URL of the new implementation, below which its paths lie. Without it every endpoint stays with legacy"),
  MODERN_TIMEOUT_MS: fields
    .milliseconds(5_000)
    .describe("Longest time for one answer of modern, in ms. Then legacy answers"),
  ...comparedShape,
  STAGES: z
    .record(z.string(), configuredStageSchema)
    .default({})
    .describe(
      'Stages by endpoint: `{"getDataset": {"stage": "shadow", "share": 10, "gate": {"parity": 0.999}}}`. They are `legacy`, `shadow`, `canary` and `modern`. A canary without a gate only goes back; `"gate": "none"`: it does not',
    ),
  FORCE_BACKEND: z
    .boolean()
    .default(false)
    .describe("Whether a request may name its side, by `Gateway-Backend: legacy` or `modern`"),
  MOVE_LEGACY: z
    .array(z.string())
    .default([])
    .meta({ examples: [["all"], ["getDataset", "listRuns"]] })
    .describe(
      "Endpoints of `CACHE_LEGACY` whose reads through legacy's interface follow the stage, too: in `canary` and `modern`, modern's document in legacy's form. Their names, or `all`, without those whose answers lose fields that way",
    ),
  MIRROR_RATE: fields
    .count(50)
    .describe("Most comparisons a second, and at a time. Beyond 16 MiB of answers a second there are fewer"),
};

const reloadable = ["STAGES", "EXPECTED_DIFFERENCES", "MOVE_LEGACY"];

const errorsOf = (settings: MigrationSettings, endpoints: KnownEndpoints): string[] => {
  const all = Object.keys(endpoints);
  return [
    ...unknownEndpoints("STAGES", settings.STAGES, all),
    ...wrongRoutes(settings, endpoints),
    ...wrongTimeout(settings),
    ...withoutModern(settings),
    ...wrongMoves(settings, endpoints),
    ...unusedCertificates("MODERN_CA", settings.MODERN_CA, "MODERN_URL", settings.MODERN_URL),
  ];
};

const wrongMoves = (
  { MOVE_LEGACY: moved, CACHE_LEGACY: cached, MODERN_URL }: MigrationSettings,
  endpoints: KnownEndpoints,
): string[] => {
  const able = Object.keys(endpoints).filter((name) => endpoints[name]?.legacyForm && covers(cached, name));
  const allowed = MODERN_URL === undefined || able.length === 0 ? [] : [...able, "all"];
  const what =
    allowed.length === 0
      ? "is none without MODERN_URL and CACHE_LEGACY"
      : `are, of CACHE_LEGACY, ${allowed.join(", ")}`;
  return moved
    .filter((name) => !allowed.includes(name))
    .map((name) => `MOVE_LEGACY: ${JSON.stringify(name)} given; allowed ${what}`);
};

/** True if a list of endpoints, or of `all`, has this name. */
export const covers = (list: readonly string[], name: string): boolean => list.includes("all") || list.includes(name);

const withoutModern = ({ MODERN_URL, STAGES }: MigrationSettings): string[] =>
  MODERN_URL !== undefined
    ? []
    : Object.entries(STAGES)
        .filter(([, { stage }]) => stage !== "legacy")
        .map(
          ([name, { stage }]) =>
            `STAGES.${name}.stage: ${JSON.stringify(stage)} given without MODERN_URL; allowed is "legacy", or any stage where MODERN_URL names the new implementation`,
        );

const wrongTimeout = ({ MODERN_URL, MODERN_TIMEOUT_MS, TOTAL_TIMEOUT_MS }: MigrationSettings): string[] =>
  MODERN_URL === undefined || MODERN_TIMEOUT_MS < TOTAL_TIMEOUT_MS
    ? []
    : [
        `MODERN_TIMEOUT_MS: ${MODERN_TIMEOUT_MS} given; allowed is less than TOTAL_TIMEOUT_MS (${TOTAL_TIMEOUT_MS}), so that legacy has time to answer instead`,
      ];

export const settings = {
  shape,
  group: "Migration and retirement",
  usual: ["MODERN_URL", "STAGES"],
  reloadable,
  errorsOf,
} satisfies SettingsFragment;

export type MigrationSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
