import fc from "fast-check";
import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { isSameText } from "../../../tools/sampleLegacy/textQuirks.ts";
import { owner } from "./people.ts";

/** The highest id in a random catalogue. */
export const HIGHEST_ID = 60;

/** Values in rows and in filters of lists: few, so that they match often. */
const numbers = { instances: [50, 100, 150], features: [4, 5, 785], classes: [0, 2, 3], missing: [0, 5, 70] };
const storedNames = ["iris", "Iris", "ÌRÍS", "adult", "Ådult", "strase", "Straße", "2019", "a.b, (c)", 'the "x" of y'];
const askedNames = ["iris", "IRIS", "iris  ", "ADULT ", "strase", "STRASE", "strasse", "A.B, (C) ", "nosuch", " iris"];
const storedTags = ["demo", "Demo", "DEMO", "démo", "study_14", "Study_14", "2019"];
const askedTags = ["demo", "DEMO", "study_14", "STUDY_14", "2019", "nosuch"];

/** Legacy holds a number as text, mostly with a decimal point. */
const stored = (values: readonly number[]) =>
  fc.option(
    fc.tuple(fc.constantFrom(...values), fc.nat(6)).map(([number, form]) => {
      if (form === 0) return number.toFixed(1);
      return form === 1 ? number.toExponential().toUpperCase() : number;
    }),
    { nil: null, freq: 6 },
  );

/** Values that are no plain numbers occur only where no filter asks for them. */
const odd = fc.oneof(stored([0, 1, 2, 50]), fc.constantFrom("NaN", "Infinity", "1.0E-4", "-1"));

const { classes, features, instances, missing } = numbers;
const filtered = [stored(classes), stored(features), stored(instances), odd, stored(missing)];

/** The state of a dataset: measured, failed, found without qualities, or not processed yet. */
const processing = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      qualities: fc.tuple(odd, odd, odd, ...filtered, odd, odd, odd),
      otherQualities: fc.constantFrom<Record<string, string>>({}, {}, { AutoCorrelation: "0.5" }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({}, { error: "It failed." }, { processing_date: null }) },
);

const row = fc.record({
  name: fc.constantFrom(...storedNames),
  version: fc.constantFrom(1, 1, 2, 3),
  format: fc.constantFrom("ARFF", "ARFF", "Sparse_ARFF", "csv", "CSV, MAT"),
  visibility: fc.constantFrom("public", "public", "private"),
  status: fc.constantFrom("active", "active", "active", "active", "deactivated", "in_preparation"),
  tags: fc
    .uniqueArray(fc.constantFrom(...storedTags), { maxLength: 3, comparator: isSameText })
    .map((names) => names.map((name): [string, number] => [name, owner.user.id])),
  processing,
});

/** Up to forty datasets of one owner with gaps between their ids, in no order. */
export const randomCatalogue: fc.Arbitrary<DatasetRow[]> = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: HIGHEST_ID }), row), {
    maxLength: 40,
    selector: ([id]) => id,
    size: "max",
  })
  .map((rows) =>
    rows.map(([id, { processing: found, ...rest }]) =>
      completeDataset({ id, uploader: owner.user.id, ...rest, ...found }),
    ),
  );

const sometimes = <T>(arbitrary: fc.Arbitrary<T>, freq = 9) =>
  fc.oneof({ weight: freq, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** A number, the same as text, or a range of two. */
const numberOrRange = (values: readonly number[]) => {
  const number = fc.constantFrom(...values);
  const range = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}..${Math.max(a, b)}`);
  return fc.oneof(number, number.map(String), range);
};

const id = fc.integer({ min: 1, max: HIGHEST_ID + 2 });

/** The input of a list, with any filters but the uploader. */
export const randomInput = fc
  .record({
    status: sometimes(fc.constantFrom("active", "deactivated", "in_preparation", "all", "all", "all"), 1),
    tag: sometimes(fc.constantFrom(...askedTags), 5),
    data_name: sometimes(fc.constantFrom(...askedNames), 4),
    data_version: sometimes(fc.constantFrom(1, 1, 2, 3, 4)),
    data_id: sometimes(fc.oneof(id, fc.array(id, { minLength: 1, maxLength: 50, size: "max" }))),
    number_instances: sometimes(numberOrRange(instances)),
    number_features: sometimes(numberOrRange(features)),
    number_classes: sometimes(numberOrRange(classes)),
    number_missing_values: sometimes(numberOrRange(missing)),
    limit: sometimes(fc.oneof(fc.constantFrom(1, 2, 3, 5, 10), fc.integer({ min: 1, max: 10_000 })), 1),
    offset: sometimes(fc.oneof({ weight: 4, arbitrary: fc.nat(5) }, { weight: 1, arbitrary: fc.nat(45) }), 1),
  })
  .map((input) => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)));
