import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/rules/rule.ts";
import { datasetApart } from "../../../transforms/datasetApart.ts";
import { rowMatcher } from "../../../src/features/privateDatasets/matching.ts";

const quality = (name: string, value: string) => ({ name, value });

const shown = {
  did: "61",
  name: "Größe  ",
  version: "2",
  status: "active",
  format: "ARFF",
  file_id: "7",
  tag: ["Uni", "study_1"],
  quality: [
    quality("NumberOfInstances", "150.0"),
    quality("NumberOfFeatures", "5"),
    quality("NumberOfClasses", "0"),
    quality("MajorityClassSize", "NaN"),
  ],
} satisfies JsonObject;

describe("whether legacy would list a row", () => {
  const of = (
    input: Record<string, unknown>,
    about: { shown?: JsonObject | undefined; uploader?: number | undefined } = { shown },
  ) => rowMatcher(input)({ id: 61, ...about });

  test.each<[Record<string, unknown>, boolean | undefined]>([
    [{}, true],
    [{ limit: 5, offset: 7 }, true],
    [{ status: "active" }, true],
    [{ status: "all" }, true],
    [{ status: "deactivated" }, false],
    [{ status: "in_preparation" }, false],
    [{ data_id: [2, 61] }, true],
    [{ data_id: [2, 6] }, false],
    [{ data_id: [] }, false],
    [{ data_name: "GROSE" }, true],
    [{ data_name: "grosse" }, false],
    [{ data_version: 2 }, true],
    [{ data_version: 1 }, false],
    [{ tag: "UNI" }, true],
    [{ tag: "study_1" }, true],
    [{ tag: "study_10" }, false],
    [{ number_instances: "150" }, true],
    [{ number_instances: "150..150" }, true],
    [{ number_instances: "0..149" }, false],
    [{ number_instances: "151..900" }, false],
    [{ number_instances: "100..200" }, true],
    [{ number_features: "5" }, true],
    [{ number_features: "50" }, false],
    [{ number_classes: "0" }, true],
    [{ number_classes: "0..1" }, true],
    // There is none of it.
    [{ number_missing_values: "0" }, false],
    [{ number_missing_values: "0..99" }, false],
    [{ status: "all", tag: "uni", number_features: "1..9", data_version: 2 }, true],
    [{ status: "all", tag: "uni", number_features: "1..9", data_version: 3 }, false],
    // The uploader is unknown.
    [{ uploader: 16 }, undefined],
    [{ uploader: 16, data_id: [61] }, undefined],
    [{ uploader: 16, data_id: [62] }, false],
    [{ uploader: 16, tag: "none" }, false],
  ])("by %j: %j", (input, matches) => {
    expect(of(input)).toBe(matches);
  });

  test.each<[Record<string, unknown>, number | undefined, boolean | undefined]>([
    [{ uploader: 16 }, 16, true],
    [{ uploader: 16, tag: "uni" }, 16, true],
    [{ uploader: 16, tag: "none" }, 16, false],
    [{ uploader: 17 }, 16, false],
    [{ tag: "uni" }, 16, true],
  ])("by %j, where it is of %j: %j", (input, uploader, matches) => {
    expect(of(input, { shown, uploader })).toBe(matches);
  });

  test.each<[Record<string, unknown>, number | undefined, boolean | undefined]>([
    [{}, undefined, undefined],
    [{ status: "all" }, 16, undefined],
    [{ data_id: [61] }, undefined, undefined],
    [{ data_id: [62] }, undefined, false],
    [{ uploader: 16 }, undefined, undefined],
    [{ uploader: 16 }, 16, undefined],
    [{ uploader: 17 }, 16, false],
    [{ tag: "none" }, 16, undefined],
  ])("by %j, where it is of %j and nothing else is known: %j", (input, uploader, matches) => {
    expect(of(input, { uploader })).toBe(matches);
  });

  test.each<[string, JsonObject, Record<string, unknown>, boolean]>([
    ["one tag", { tag: "uni" }, { tag: "Uni" }, true],
    ["one tag, another", { tag: "uni" }, { tag: "un" }, false],
    ["no tag", {}, { tag: "uni" }, false],
    ["one quality", { quality: quality("NumberOfClasses", "3") }, { number_classes: "3" }, true],
    ["no quality", {}, { number_classes: "0" }, false],
    ["a value that is no number", { quality: [quality("NumberOfClasses", "NaN")] }, { number_classes: "0..9" }, false],
    ["a value with an exponent", { quality: [quality("NumberOfClasses", "1.0E3")] }, { number_classes: "1000" }, true],
    ["no name", { name: [] }, { data_name: "a" }, false],
  ])("with %s", (_, row, input, matches) => {
    expect(of(input, { shown: row })).toBe(matches);
  });
});

test("what is kept of a row is what a list shows, and no more", () => {
  const { did: id, quality: _, ...rest } = shown;
  const legacy = { data_set_description: { id, ...rest, visibility: "private", description: "long", url: "x" } };
  const qualities = [
    quality("NumberOfInstances", "150.0"),
    { name: "NumberOfFeatures", value: [] },
    quality("AutoCorrelation", "0.5"),
  ];
  expect(datasetApart.shown(legacy, { data_qualities: { quality: qualities } })).toEqual({
    did: "61",
    ...rest,
    md5_checksum: "",
    quality: [quality("NumberOfInstances", "150.0")],
  });
  const { file_id: __, tag: ___, ...bare } = legacy.data_set_description;
  expect(Object.keys(datasetApart.shown({ data_set_description: bare }, undefined)).toSorted()).toEqual(
    ["did", "format", "md5_checksum", "name", "quality", "status", "version"].toSorted(),
  );
});
