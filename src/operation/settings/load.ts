import { type GivenSetting, fileSettingOf } from "./givenSetting.ts";
import type { z } from "zod";
import { parseJson } from "../../catalogue/index.ts";
import { readableByAll, readConfigurationFile } from "./configurationFile.ts";
import { described, describeIssue } from "./describeIssue.ts";
import { readSecretFiles } from "./secretFiles.ts";
import { dropFormerSettings, slipWarnings } from "./slips.ts";
import {
  holdsSecret,
  type KnownEndpoints,
  secretSettings,
  type Settings,
  type SettingsFragment,
  settingsSchemaOf,
  unknownEndpoints,
} from "./settings.ts";

/** What is wrong with the configuration, one line each: the name, what was given, what is allowed. */
type ConfigurationErrors = { errors: string[] };

/**
 * Reads the settings from the file named by `CONFIG` and from the environment, which wins. `warnings` has one line for
 * each likely slip, for each former setting, and for a file with secrets that all may read.
 * `fragments`: the settings of features. Without `isStrict`, unknown settings are ignored: other
 * programs' features may have them.
 */
export const loadSettings = (
  environment: Record<string, string | undefined>,
  endpoints: KnownEndpoints,
  fragments: readonly SettingsFragment[] = [],
  isStrict = true,
): { settings: Settings; warnings: string[] } | ConfigurationErrors => {
  const schema = settingsSchemaOf(fragments, isStrict);
  const secrets = secretSettings(fragments);
  const path = environment["CONFIG"] ?? "";
  const file = path === "" ? { values: {} } : readConfigurationFile(path);
  if ("errors" in file) return file;
  // Without the names that every object has, such as `toString`.
  const fieldOf = (name: string) => (Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.ZodType) : undefined);
  const given = new Map<string, GivenSetting>(
    Object.entries(file.values).map(([name, entry]) => {
      const value = fromFile(entry, fieldOf(name));
      return [name, { value, from: `in ${path}` }];
    }),
  );
  const formerWarnings = dropFormerSettings(given, environment);
  const names = [...Object.keys(schema.shape), ...Array.from(secrets, fileSettingOf)];
  for (const name of names) {
    const text = environment[name];
    if (text) given.set(name, { value: fromText(text, fieldOf(name)), from: "in the environment" });
  }
  const wrong = readSecretFiles(given, secrets);
  if (wrong.length > 0) return { errors: wrong };
  const parsed = schema.safeParse(Object.fromEntries([...given].map(([name, { value }]) => [name, value])));
  if (!parsed.success) {
    const shown = { schema, secrets, given };
    return { errors: [...new Set(parsed.error.issues.flatMap((issue) => describeIssue(issue, shown)))] };
  }
  const core = parsed.data as Settings;
  const settings = Object.assign({}, ...fragments.map((one) => one.defaultsOf?.(core)), core) as Settings;
  const cached = Object.keys(endpoints).filter((name) => endpoints[name]?.cache !== undefined);
  const errors = [
    ...unknownEndpoints("CACHE_LIFETIMES", settings.CACHE_LIFETIMES, cached),
    ...wrongReads(settings, cached),
    ...fragments.flatMap(({ errorsOf }) => errorsOf?.(settings, endpoints) ?? []),
    ...tooLarge(settings),
  ];
  if (errors.length > 0) return { errors };
  const exposed = Object.entries(file.values)
    .filter(([name, value]) => secrets.has(name) && holdsSecret(value))
    .map(([name]) => name);
  const warnings = [
    ...readableByAll(path, exposed),
    ...formerWarnings,
    ...(isStrict ? slipWarnings(environment, new Set([...names, "CONFIG"])) : []),
  ];
  return { settings, warnings };
};

const wrongReads = ({ CACHE_LEGACY: names, CACHE_BYTES }: Settings, endpoints: readonly string[]): string[] => [
  ...unknownEndpoints("CACHE_LEGACY", Object.fromEntries(names.map((name) => [name, true])), [...endpoints, "all"]),
  ...(names.length > 0 && CACHE_BYTES === 0
    ? [
        "CACHE_LEGACY: given with CACHE_BYTES 0, which caches nothing; allowed is any other CACHE_BYTES, or no CACHE_LEGACY",
      ]
    : []),
];

const tooLarge = ({ MAX_REPLY_BYTES, MEMORY_BYTES }: Settings): string[] =>
  MAX_REPLY_BYTES <= MEMORY_BYTES
    ? []
    : [
        `MEMORY_BYTES: ${MEMORY_BYTES} given; allowed is at least MAX_REPLY_BYTES (${MAX_REPLY_BYTES}), so that one answer alone has room`,
      ];

const numeric = (text: string): unknown => (/^[+-]?\d+$/.test(text) ? Number(text) : text);

/** A list that is one text, in the environment as in a file: JSON, or entries parted by commas. */
const listFrom = (text: string): unknown => {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  return trimmed.startsWith("[") ? parseJsonText(text) : text.split(",").map((entry) => entry.trim());
};

/** Left as the text it is, the schema refuses it by name. */
const parseJsonText = (text: string): unknown => parseJson(text) ?? text;

/** A file has values of all types; only a list may be one text as well. */
const fromFile = (value: unknown, field: z.ZodType | undefined): unknown =>
  typeof value === "string" && field !== undefined && described(field).type === "array" ? listFrom(value) : value;

/** The environment has only text: numbers are digits, objects are JSON. */
const fromText = (text: string, field: z.ZodType | undefined): unknown => {
  if (field === undefined) return text;
  const { type, anyOf = [] } = described(field);
  if ([type, ...anyOf.map((one) => one.type)].includes("integer")) return numeric(text.trim());
  if (type === "number") return /^\d*\.?\d+$/.test(text.trim()) ? Number(text) : text;
  if (type === "boolean") return { true: true, false: false }[text.trim()] ?? text;
  if (type === "array") return listFrom(text);
  return type === "object" ? parseJsonText(text) : text;
};
