import { type GivenSetting, fileSettingOf } from "./givenSetting.ts";
import type { z } from "zod";
import { SAMPLE } from "./fields.ts";
import { parseJson } from "../../catalogue/index.ts";
import { readableByAll, readConfigurationFile } from "./configurationFile.ts";
import { described, describeIssue } from "./describeIssue.ts";
import { readSecretFiles } from "./secretFiles.ts";
import { slipWarnings } from "./slips.ts";
import {
  holdsSecret,
  type KnownEndpoints,
  secretSettings,
  type Settings,
  type SettingsFragment,
  type SettingsOf,
  settingsSchemaOf,
} from "./settings.ts";
import { doubtful, wrongTogether } from "./together.ts";

/**
 * `errors` has a line for each wrong setting: its name, what was given, what is allowed. `warnings` has a line for each
 * likely slip, for a file with secrets that all users may read, and for values that are hardly meant.
 */
type LoadedSettings<S> = { settings: S; warnings: string[] } | { errors: string[]; warnings: string[] };

/**
 * Reads the settings from the file named by `CONFIG` and from the environment, which wins. Finds all errors at once,
 * also those of settings that are only wrong together. `fragments`: the settings of features. Without `isStrict`,
 * unknown settings are ignored: features of other programs may have them.
 */
export const loadSettings = <F extends SettingsFragment>(
  environment: Record<string, string | undefined>,
  endpoints: KnownEndpoints,
  fragments: readonly F[] = [],
  isStrict = true,
): LoadedSettings<SettingsOf<F>> => {
  const schema = settingsSchemaOf(fragments, isStrict);
  const secrets = secretSettings(fragments);
  const path = environment["CONFIG"] ?? "";
  const file = path === "" ? { values: {} } : readConfigurationFile(path);
  const inFile = "values" in file ? file.values : {};
  // Without the names that every object has, such as `toString`.
  const fieldOf = (name: string) => (Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.ZodType) : undefined);
  const given = new Map<string, GivenSetting>(
    Object.entries(inFile).map(([name, entry]) => {
      const value = fromFile(entry, fieldOf(name));
      return [name, { value, from: `in ${path}` }];
    }),
  );
  const names = [...Object.keys(schema.shape), ...Array.from(secrets, fileSettingOf)];
  for (const name of names) {
    const text = environment[name];
    if (text) given.set(name, { value: fromText(text, fieldOf(name)), from: "in the environment" });
  }
  const unread = readSecretFiles(given, secrets);
  const { right, issues } = parseEach(schema, given);
  const wrong = new Set([...unread.keys(), ...issues.flatMap(namesIn)]);
  // The settings in a file that cannot be read are unknown.
  if ("errors" in file) for (const name of names) if (!given.has(name)) wrong.add(name);
  const core = right as Settings;
  const settings = Object.assign(
    {},
    ...fragments.map((fragment) => fragment.defaultsOf?.(core)),
    core,
  ) as SettingsOf<F>;
  const cached = Object.keys(endpoints).filter((name) => endpoints[name]?.cache !== undefined);
  const together = [
    ...(environment["NODE_ENV"] === "production" && !given.has("LEGACY_URL") ? [NO_LEGACY] : []),
    ...wrongTogether(settings, cached),
    ...fragments.flatMap(({ errorsOf }) => errorsOf?.(settings, endpoints) ?? []),
  ];
  const errors = [
    ...("errors" in file ? file.errors : []),
    ...unread.values(),
    ...new Set(issues.flatMap((issue) => describeIssue(issue, { schema, secrets, given }))),
    // A setting that is wrong has its default here, so errors about it together with others would mislead.
    ...together.filter((line) => !(line.match(/\b[A-Z_]{3,}\b/g) ?? []).some((name) => wrong.has(name))),
  ];
  const exposed = Object.entries(inFile)
    .filter(([name, value]) => secrets.has(name) && holdsSecret(value))
    .map(([name]) => name);
  const warnings = [
    ...readableByAll(path, exposed),
    ...(isStrict ? slipWarnings(environment, new Set([...names, "CONFIG"])) : []),
    ...doubtful(settings),
    ...fragments.flatMap(({ warningsOf }) => warningsOf?.(settings) ?? []),
  ];
  return errors.length > 0 ? { errors, warnings } : { settings, warnings };
};

const NO_LEGACY = `LEGACY_URL: nothing given with NODE_ENV=production; allowed is the origin of the legacy server, or ${SAMPLE} for one that invents all answers`;

/** The names of the settings that an issue is about. */
const namesIn = (issue: z.core.$ZodIssue): string[] =>
  issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : [String(issue.path[0])];

/** The settings as they were given, with the default in place of each wrong value. */
const parseEach = (schema: z.ZodObject<z.ZodRawShape>, given: ReadonlyMap<string, GivenSetting>) => {
  const values = [...given].map(([name, { value }]) => [name, value] as const);
  const parsed = schema.safeParse(Object.fromEntries(values));
  if (parsed.success) return { right: parsed.data, issues: [] };
  const { issues } = parsed.error;
  const wrong = new Set(issues.flatMap(namesIn));
  return { right: schema.parse(Object.fromEntries(values.filter(([name]) => !wrong.has(name)))), issues };
};

const numeric = (text: string): unknown => (/^[+-]?\d+$/.test(text) ? Number(text) : text);

/** A list that is written as a text, in the environment or in a file: JSON, or entries separated by commas. */
const listFrom = (text: string): unknown => {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  return trimmed.startsWith("[") ? parseJsonText(text) : text.split(",").map((entry) => entry.trim());
};

/** Text that is not JSON stays a text: the schema refuses it by the setting's name. */
const parseJsonText = (text: string): unknown => parseJson(text) ?? text;

/** A file has values of all types; only a list may also be a text. */
const fromFile = (value: unknown, field: z.ZodType | undefined): unknown =>
  typeof value === "string" && field !== undefined && described(field).type === "array" ? listFrom(value) : value;

/** The environment has only text: numbers are digits, objects are JSON. */
const fromText = (text: string, field: z.ZodType | undefined): unknown => {
  if (field === undefined) return text;
  const { type, anyOf = [] } = described(field);
  if ([type, ...anyOf.map((option) => option.type)].includes("integer")) return numeric(text.trim());
  if (type === "number") return /^\d*\.?\d+$/.test(text.trim()) ? Number(text) : text;
  if (type === "boolean") return { true: true, false: false }[text.trim()] ?? text;
  if (type === "array") return listFrom(text);
  return type === "object" ? parseJsonText(text) : text;
};
