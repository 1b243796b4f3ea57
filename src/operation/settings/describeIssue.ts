import { z } from "zod";
import { HIDDEN, withoutUrlSecrets } from "../secrets/scrub.ts";
import { fileSettingOf, type GivenSetting } from "./givenSetting.ts";
import { suggestName } from "./slips.ts";

/** The parts of a JSON Schema that messages use. */
type Described = {
  type?: string;
  anyOf?: Described[];
  enum?: string[];
  minimum?: number;
  maximum?: number;
  description?: string;
  default?: unknown;
  examples?: unknown[];
  items?: Described;
  properties?: Record<string, Described>;
  additionalProperties?: Described | boolean;
};

/** Describes the values that a setting takes, by the first sentence of its description without its Markdown. */
export const described = (field: z.ZodType): Described => {
  const schema = z.toJSONSchema(field, { io: "input", unrepresentable: "any" }) as Described;
  const [description = ""] = schema.description?.split(". ") ?? [];
  return { ...schema, description: description.replaceAll("`", "").replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1") };
};

type Shown = {
  schema: z.ZodObject<z.ZodRawShape>;
  secrets: ReadonlySet<string>;
  given: ReadonlyMap<string, GivenSetting>;
};

type SettingIssue = Pick<z.core.$ZodIssue, "code" | "message" | "path">;
/** A value in a setting by its path, and its description. */
type SettingPlace = { name: string; value: unknown; described: Described };

/** Describes one issue of the settings, one line for each place: the name, what was given, what is allowed. */
export const describeIssue = (issue: z.core.$ZodIssue, { schema, secrets, given }: Shown): string[] => {
  if (issue.code === "unrecognized_keys" && issue.path.length === 0)
    return issue.keys.map(
      (name) => `${name}: unknown setting ${given.get(name)?.from}; ${nearest(name, { schema, secrets })}`,
    );
  const name = String(issue.path[0]);
  const { value, from } = given.get(name) ?? { value: undefined, from: "" };
  return placesOf(issue, value, schema.shape[name] as z.ZodType).map((place) => {
    const text = place.value === undefined ? "nothing" : JSON.stringify(place.value);
    const shown = secrets.has(name) ? HIDDEN : withoutUrlSecrets(text);
    return `${place.name}: ${shown} given ${from}; allowed is ${allowedFor(place, issue)}`;
  });
};

/**
 * `STAGES.getDataset.share` or `DEPRECATED[0].since`, its value and its description; for a whole entry of a list, those
 * of the list.
 */
const placesOf = ({ path, ...issue }: z.core.$ZodIssue, value: unknown, field: z.ZodType): SettingPlace[] => {
  const place = { name: String(path[0]), value, described: described(field) };
  for (const [i, step] of path.slice(1).entries()) {
    const inner = innerOf(place.described, step);
    const isEntry = typeof step === "number" && i === path.length - 2 && issue.code !== "unrecognized_keys";
    if (inner === undefined || isEntry) break;
    place.value = (place.value as Record<PropertyKey, unknown> | undefined)?.[step];
    place.name += typeof step === "number" ? `[${step}]` : `.${String(step)}`;
    place.described = ofValue(inner, place.value);
  }
  if (issue.code !== "unrecognized_keys") return [place];
  return issue.keys.map((key) => ({
    name: `${place.name}.${key}`,
    value: (place.value as Record<string, unknown>)[key],
    described: { enum: Object.keys(place.described.properties ?? {}) },
  }));
};

/** The description of the object, if a word or an object is allowed and an object was given. */
const ofValue = (inner: Described, value: unknown): Described =>
  inner.anyOf?.find(({ type }) => type === "object" && typeof value === "object") ?? inner;

const innerOf = ({ properties, additionalProperties, items }: Described, step: PropertyKey): Described | undefined => {
  if (typeof step === "number") return items?.type === "object" ? items : undefined;
  return properties?.[String(step)] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
};

const allowedFor = ({ described: field, value }: SettingPlace, issue: SettingIssue): string => {
  const { type, enum: values, minimum, maximum, description = "", ...more } = field;
  if (values) return `one of ${values.join(", ")}`;
  if (type === "boolean") return "true or false";
  const bounds = maximum === undefined ? "" : ` from ${minimum} to ${maximum}`;
  if (type === "integer") return `an integer${bounds}`;
  if (type === "number") return `a number${bounds}`;
  const within = description.charAt(0).toLowerCase() + description.slice(1);
  if (type === "object" && issue.code === "invalid_type")
    return within || `an object with ${Object.keys(more.properties ?? {}).join(", ")}`;
  if (type === "array" && (issue.code === "invalid_type" || issue.code === "too_small"))
    return `a list${more.examples ? ` such as ${JSON.stringify(more.examples[0])}` : ""}: ${within}`;
  // An unquoted number in a file has lost its digits beyond the sixteenth.
  const isUnquoted = type === "string" && typeof value === "number" && issue.path.length === 1;
  return isUnquoted ? `${issue.message}: put it in quotes` : issue.message;
};

const nearest = (name: string, { schema, secrets }: Pick<Shown, "schema" | "secrets">): string => {
  const names = Object.keys(schema.shape);
  const suggested = suggestName(name, [...names, ...Array.from(secrets, fileSettingOf)]);
  if (suggested !== undefined) return `is ${suggested} meant?`;
  const near = names.filter((known) => known.includes(name.toUpperCase()) || name.toUpperCase().includes(known));
  return `allowed are ${(near.length > 0 ? near : names).join(", ")}`;
};
