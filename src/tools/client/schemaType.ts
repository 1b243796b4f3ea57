import type { Json, JsonObject } from "../../rules/rule.ts";

/** A schema of JSON Schema, as a type of TypeScript. `nameOf` gives the type that a `$ref` leads to. */
export const schemaType = (schema: Json | undefined, nameOf: (ref: string) => string): string => {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return "unknown";
  const { $ref, type, anyOf, oneOf, allOf, enum: values } = schema;
  const each = (all: Json | undefined, by: string) =>
    joined(
      (all as Json[]).map((one) => schemaType(one, nameOf)),
      by,
    );
  if (typeof $ref === "string") return nameOf($ref);
  if (values !== undefined) return joined((values as Json[]).map((value) => JSON.stringify(value)));
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  if (anyOf !== undefined || oneOf !== undefined) return each(anyOf ?? oneOf, " | ");
  if (allOf !== undefined) return each(allOf, " & ");
  if (Array.isArray(type)) return joined(type.map((one) => schemaType({ ...schema, type: one }, nameOf)));
  if (type === "object") return objectType(schema, nameOf);
  if (type === "array") return `${bracketed(schemaType(schema["items"], nameOf))}[]`;
  return plain[type as string] ?? "unknown";
};

const plain: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

const joined = (types: readonly string[], by = " | "): string => {
  const all = [...new Set(types)];
  return all.includes("unknown") && by === " | " ? "unknown" : all.map(bracketed).join(by);
};

const bracketed = (type: string): string => (/[|&]/.test(type) && !/^[{"]/.test(type) ? `(${type})` : type);

/** Fields that the interface does not promise are left out, though an answer may have more. */
const objectType = ({ properties, required, additionalProperties }: JsonObject, nameOf: (ref: string) => string) => {
  if (properties === undefined) return `Record<string, ${schemaType(additionalProperties, nameOf)}>`;
  const needed = new Set(required as string[] | undefined);
  const members = Object.entries(properties as JsonObject).map(
    ([name, inner]) => `${JSON.stringify(name)}${needed.has(name) ? "" : "?"}: ${schemaType(inner, nameOf)}`,
  );
  return `{ ${members.join("; ")} }`;
};
