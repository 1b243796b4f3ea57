import { readFileSync } from "node:fs";
import { z } from "zod";
import { HIDDEN, withoutUrlSecrets } from "../scrub/secrets.ts";
import { applyRenames, type GivenSetting, renamedSettings } from "./renamed.ts";
import {
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
 * Reads the settings from the file named by `CONFIG` and from the environment, which wins. `warnings` has one line for each deprecated name.
 * `fragments`: the settings of features. Without `isStrict`, unknown settings are ignored: other programs' features may have them.
 */
export const loadSettings = (
  environment: Record<string, string | undefined>,
  endpoints: KnownEndpoints,
  fragments: readonly SettingsFragment[] = [],
  isStrict = true,
): { settings: Settings; warnings: string[] } | ConfigurationErrors => {
  const schema = settingsSchemaOf(fragments, isStrict);
  const file = readFile(environment["CONFIG"]);
  if ("errors" in file) return file;
  const given = new Map<string, GivenSetting>(
    Object.entries(file.values).map(([name, value]) => [name, { value, from: `in ${environment["CONFIG"]}` }]),
  );
  const old = Object.entries(renamedSettings).map(([name, renamed]) => [name, schema.shape[renamed.name]]);
  for (const [name, field] of [...Object.entries(schema.shape), ...old] as [string, z.ZodType][]) {
    const text = environment[name];
    if (text !== undefined && text !== "")
      given.set(name, { value: fromText(text, field), from: "in the environment" });
  }
  const renamed = applyRenames(given);
  if (renamed.errors.length > 0) return { errors: renamed.errors };
  const parsed = schema.safeParse(Object.fromEntries([...given].map(([name, { value }]) => [name, value])));
  if (!parsed.success) {
    const shown = { schema, secrets: secretSettings(fragments), given };
    return { errors: [...new Set(parsed.error.issues.flatMap((issue) => describeIssue(issue, shown)))] };
  }
  const settings = parsed.data as Settings;
  const cached = Object.keys(endpoints).filter((name) => endpoints[name]?.cache !== undefined);
  const errors = [
    ...unknownEndpoints("CACHE_LIFETIMES", settings.CACHE_LIFETIMES, cached),
    ...fragments.flatMap(({ errorsOf }) => errorsOf?.(settings, endpoints) ?? []),
    ...tooLarge(settings),
  ];
  return errors.length > 0 ? { errors } : { settings, warnings: renamed.warnings };
};

const tooLarge = ({ MAX_REPLY_BYTES, MAX_REPLIES_BYTES }: Settings): string[] =>
  MAX_REPLY_BYTES <= MAX_REPLIES_BYTES
    ? []
    : [
        `MAX_REPLIES_BYTES: ${MAX_REPLIES_BYTES} given; allowed is at least MAX_REPLY_BYTES (${MAX_REPLY_BYTES}), so that one answer alone has room`,
      ];

const readFile = (path: string | undefined): { values: Record<string, unknown> } | ConfigurationErrors => {
  if (path === undefined || path === "") return { values: {} };
  let values: unknown;
  try {
    values = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // Not the parser's message: it quotes the file, which may hold a key.
    const { code } = error as NodeJS.ErrnoException;
    return {
      errors: [
        `CONFIG: ${path} ${code === undefined ? "is not valid JSON" : `cannot be read (${code})`}; allowed is the path of a JSON file`,
      ],
    };
  }
  const isRecord = typeof values === "object" && values !== null && !Array.isArray(values);
  return isRecord
    ? { values: values as Record<string, unknown> }
    : { errors: [`CONFIG: ${path} has to hold a JSON object`] };
};

type Described = {
  type?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  description?: string;
  items?: { type?: string };
};

const described = (field: z.ZodType): Described =>
  z.toJSONSchema(field, { io: "input", unrepresentable: "any" }) as Described;

const numeric = (text: string): unknown => (/^[+-]?\d+$/.test(text) ? Number(text) : text);

/** The environment has only text: numbers are digits, lists are JSON or parted by commas. */
const fromText = (text: string, field: z.ZodType): unknown => {
  const { type, items } = described(field);
  if (type === "integer") return numeric(text.trim());
  if (type === "boolean") return { true: true, false: false }[text.trim()] ?? text;
  if (type !== "array" && type !== "object") return text;
  if (type === "array" && !text.trim().startsWith("[")) {
    const entries = text.split(",").map((entry) => entry.trim());
    return items?.type === "integer" ? entries.map(numeric) : entries;
  }
  try {
    return JSON.parse(text);
  } catch {
    // Left as the text it is, which the schema refuses by name.
    return text;
  }
};

type Shown = {
  schema: z.ZodObject<z.ZodRawShape>;
  secrets: ReadonlySet<string>;
  given: ReadonlyMap<string, GivenSetting>;
};

const describeIssue = (issue: z.core.$ZodIssue, { schema, secrets, given }: Shown): string[] => {
  if (issue.code === "unrecognized_keys" && issue.path.length === 0)
    return issue.keys.map((name) => `${name}: unknown setting ${given.get(name)?.from}; ${nearest(name, schema)}`);
  const name = String(issue.path[0]);
  const { value, from } = given.get(name) ?? { value: undefined, from: "" };
  return placesOf(issue, value).map((place) => {
    const text = place.value === undefined ? "nothing" : JSON.stringify(place.value);
    const shown = secrets.has(name) ? HIDDEN : withoutUrlSecrets(text);
    return `${place.name}: ${shown} given ${from}; allowed is ${allowedFor(schema.shape[name] as z.ZodType, issue)}`;
  });
};

/** `DEPRECATED[0].since` and its value where a field within a list is wrong; for any other issue the setting as a whole. */
const placesOf = ({ path, ...issue }: z.core.$ZodIssue, value: unknown): { name: string; value: unknown }[] => {
  const [setting, index, ...rest] = path;
  const whole = { name: String(setting), value };
  if (typeof index !== "number" || !Array.isArray(value)) return [whole];
  const fields = issue.code === "unrecognized_keys" ? issue.keys : rest.slice(0, 1);
  const item = value[index] as Record<PropertyKey, unknown>;
  return fields.length === 0
    ? [whole]
    : fields.map((field) => ({ name: `${whole.name}[${index}].${String(field)}`, value: item[field] }));
};

const allowedFor = (field: z.ZodType, issue: z.core.$ZodIssue): string => {
  const { type, enum: values, minimum, maximum, description } = described(field);
  if (values) return `one of ${values.join(", ")}`;
  if (type === "boolean") return "true or false";
  if (type === "integer") return `an integer from ${minimum} to ${maximum}`;
  // Something wrong inside an object is about its setting as a whole.
  if (type === "object" && issue.code !== "custom") return description ?? "";
  if (type === "array" && ["invalid_type", "unrecognized_keys"].includes(issue.code)) return `a list: ${description}`;
  return issue.message;
};

const nearest = (name: string, { shape }: Shown["schema"]): string => {
  const names = Object.keys(shape);
  const near = names.filter((known) => known.includes(name.toUpperCase()) || name.toUpperCase().includes(known));
  return `allowed are ${(near.length > 0 ? near : names).join(", ")}`;
};
