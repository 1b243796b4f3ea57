import fc from "fast-check";
import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { pools } from "./pools.ts";
import { administrator, otherOwner, owner, readOnly, secondAdministrator, user } from "./people.ts";
import { isSameText } from "../../../tools/sampleLegacy/textQuirks.ts";

const rarely = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T, freq = 8) =>
  fc.oneof({ weight: freq, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });

const people = [administrator, secondAdministrator, user, owner, otherOwner, readOnly];
const uploader = fc.constantFrom(owner, owner, otherOwner, ...people).map((it) => it.user.id);

const status = fc.constantFrom("active", "active", "active", "active", "deactivated", "in_preparation");

/** Legacy holds a value as text, mostly with a decimal point. */
const value = (numbers: readonly number[]) =>
  fc.option(
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...numbers) },
      { weight: 1, arbitrary: fc.constantFrom(...numbers).map((number) => number.toFixed(1)) },
      { weight: 1, arbitrary: fc.constantFrom(...numbers).map((number) => number.toExponential().toUpperCase()) },
    ),
    { nil: null, freq: 6 },
  );

/** Values that are no plain numbers occur only where no filter asks for them. */
const odd = fc.oneof(
  { weight: 4, arbitrary: value([0, 1, 2, 50]) },
  fc.constantFrom("NaN", "Infinity", "1.0E-4", "-1"),
);

const { classes, features, instances, missing } = pools;
const filtered = [value(classes), value(features), value(instances), odd, value(missing)];
const measured = fc.tuple(odd, odd, odd, ...filtered, odd, odd, odd);

const tags = fc
  .uniqueArray(fc.constantFrom(...pools.storedTags), { maxLength: 3, comparator: isSameText })
  .map((names) => names.map((name): [string, number] => [name, owner.user.id]));

/** The state of a dataset: measured, failed, found without qualities, or not processed yet. */
const processing = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      qualities: measured,
      otherQualities: rarely<Record<string, string>>(fc.constant({ AutoCorrelation: "0.5" }), {}, 2),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({}, { error: "It failed." }, { processing_date: null }) },
);

const row = fc.record({
  name: fc.constantFrom(...pools.storedNames, ...pools.namesWithQuotes),
  version: fc.constantFrom(1, 1, 2, 3),
  format: rarely(fc.constantFrom("Sparse_ARFF", "csv", "CSV, MAT"), "ARFF", 3),
  visibility: fc.constantFrom("public", "public", "private"),
  status,
  uploader,
  tags,
  processing,
});

/** Up to forty datasets with gaps between their ids, in no order. */
export const randomCatalogue = (): fc.Arbitrary<DatasetRow[]> =>
  fc
    .uniqueArray(fc.tuple(fc.integer({ min: 1, max: pools.highestId }), row), {
      maxLength: 40,
      selector: ([id]) => id,
      size: "max",
    })
    .map((rows) => rows.map(([id, { processing: found, ...rest }]) => completeDataset({ id, ...rest, ...found })));
