import { z } from "zod";
import { fileSettingOf, secretSettings, type SettingsFragment, settingsSchemaOf } from "../../src/operation/index.ts";

type JsonSchema = z.core.JSONSchema.JSONSchema;

/**
 * The JSON Schema (draft 2020-12) of the file that `CONFIG` names, for editors. `endpoints`: the names that settings by
 * endpoint may have. Only the start checks the conditions between settings, and the entries of a list that is written
 * as a text.
 */
export const configurationSchema = (
  fragments: readonly SettingsFragment[],
  endpoints: readonly string[],
): JsonSchema => {
  const secrets = [...secretSettings(fragments)];
  const { $schema, properties = {} } = z.toJSONSchema(settingsSchemaOf(fragments), {
    io: "input",
    unrepresentable: "any",
  });
  const byEndpoint = (property: JsonSchema): JsonSchema =>
    property.propertyNames === undefined ? property : { ...property, propertyNames: { enum: [...endpoints] } };
  const settings = Object.entries(properties).map(([name, property]) => [
    name,
    orText(byEndpoint(property as JsonSchema)),
  ]);
  const files = secrets.map((name) => [
    fileSettingOf(name),
    { type: "string", minLength: 1, description: `the path of a file with ${name}` },
  ]);
  return {
    ...($schema === undefined ? {} : { $schema }),
    title: "Settings of catalog-gateway",
    type: "object",
    properties: Object.fromEntries([["$schema", { type: "string" }], ...settings, ...files]),
    additionalProperties: false,
    allOf: secrets.map((name) => ({ not: { required: [name, fileSettingOf(name)] } })),
  };
};

/** A list may also be a text. */
const orText = (property: JsonSchema): JsonSchema => {
  if (property.type !== "array") return property;
  const { description, default: byDefault, examples, ...list } = property;
  return { description, default: byDefault, examples, anyOf: [list, { type: "string" }] };
};
