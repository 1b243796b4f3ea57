import { expect, test } from "vitest";
import type { Endpoint } from "../../../src/catalogue/endpoint/endpoint.ts";
import type { Field } from "../../../src/catalogue/endpoint/field.ts";
import { readInput } from "../../../src/catalogue/endpoint/input.ts";
import { endpoints } from "../../../transforms/index.ts";

const lists = Object.entries(endpoints as Record<string, Endpoint>).filter(([, { input }]) => "limit" in input);

/** The longest texts that these fields take, beside lists of ids. */
const longest: Record<string, unknown> = {
  status: "in_preparation",
  tag: "t".repeat(64),
  data_tag: "t".repeat(64),
  data_name: " ".repeat(128),
  function: "f".repeat(128),
  number_instances: "9".repeat(40),
  number_features: "9".repeat(40),
  number_classes: "9".repeat(40),
  number_missing_values: "9".repeat(40),
  offset: Number.MAX_SAFE_INTEGER,
  sort_order: "desc",
  per_fold: true,
  show_errors: true,
  main_entity_type: "task",
};

const ids = (characters: number): number[] =>
  Array.from({ length: Math.floor((characters + 1) / 11) }, (_, i) => 1_000_000_000 + i);

const read = (fields: Record<string, Field<unknown>>, values: Record<string, unknown>) =>
  readInput(
    fields,
    Object.entries(values).map(([name, json]) => ({ name, loc: ["body", name], json: json as never })),
    "body",
  );

const longestOf = ({ input }: Endpoint, characters: number) => {
  const fields = input as Record<string, Field<unknown>>;
  const ofIds = Object.keys(fields).filter((name) => fields[name]?.shared !== undefined);
  const values = Object.keys(fields).map((name) => {
    if (ofIds.includes(name)) return [name, ids(characters / ofIds.length)];
    return [name, longest[name] ?? (name === "limit" ? 1000 : 2 ** 31 - 1)];
  });
  return { ofIds, reading: read(fields, Object.fromEntries(values) as Record<string, unknown>) };
};

test.each(lists)("%s: its longest input fits into legacy's path", (_, endpoint) => {
  const { reading } = longestOf(endpoint, 7000);
  if ("errors" in reading) throw new Error(JSON.stringify(reading.errors));
  expect(endpoint.legacy(reading.input)).toHaveProperty("path");
});

test("lists of ids that are too long together are refused, with an error for each", () => {
  const { ofIds, reading } = longestOf(endpoints.listRuns, 7100);
  expect(ofIds.length).toBeGreaterThan(1);
  expect(reading).toMatchObject({ errors: ofIds.map((name) => ({ loc: ["body", name] })) });
});
