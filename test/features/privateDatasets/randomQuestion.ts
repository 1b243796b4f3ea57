import fc from "fast-check";
import type { ListInput } from "./model.ts";
import { pools } from "./pools.ts";
import {
  type Caller,
  administrator,
  nobody,
  otherOwner,
  owner,
  readOnly,
  secondAdministrator,
  user,
  users,
  wrongKey,
} from "./people.ts";

const sometimes = <T>(arbitrary: fc.Arbitrary<T>, freq = 9) =>
  fc.oneof({ weight: freq, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const mostly = (matching: readonly string[], other: readonly string[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...matching) }, { weight: 1, arbitrary: fc.constantFrom(...other) });

/** A number, the same as text, or a range of two. */
const numberOrRange = (numbers: readonly number[]) => {
  const number = fc.constantFrom(...numbers);
  return fc.oneof(
    number,
    number.map(String),
    fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}..${Math.max(a, b)}`),
  );
};

const id = fc.integer({ min: 1, max: pools.highestId + 2 });

/** A sound question of the list. */
export const randomInput: fc.Arbitrary<ListInput> = fc
  .record({
    status: sometimes(fc.constantFrom("active", "deactivated", "in_preparation", "all", "all", "all"), 1),
    tag: sometimes(mostly(pools.matchingTags, pools.otherTags), 5),
    data_name: sometimes(mostly(pools.matchingNames, pools.otherNames), 4),
    data_version: sometimes(fc.constantFrom(1, 1, 2, 3, 4)),
    uploader: sometimes(fc.constantFrom(owner.user.id, ...users.map((it) => it.id), 99)),
    data_id: sometimes(
      fc.oneof(
        { weight: 1, arbitrary: id },
        { weight: 4, arbitrary: fc.array(id, { minLength: 1, maxLength: 50, size: "max" }) },
      ),
    ),
    number_instances: sometimes(numberOrRange(pools.instances)),
    number_features: sometimes(numberOrRange(pools.features)),
    number_classes: sometimes(numberOrRange(pools.classes)),
    number_missing_values: sometimes(numberOrRange(pools.missing)),
    limit: sometimes(fc.oneof(fc.constantFrom(1, 2, 3, 5, 10), fc.integer({ min: 1, max: 10_000 })), 1),
    offset: sometimes(fc.oneof({ weight: 4, arbitrary: fc.nat(5) }, { weight: 1, arbitrary: fc.nat(45) }), 1),
  })
  .map((input) => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)));

/** Anybody but an administrator. */
export const randomVisitor: fc.Arbitrary<Caller> = fc.constantFrom<Caller>(
  nobody,
  user,
  owner,
  otherOwner,
  readOnly,
  wrongKey,
);

export const randomCaller: fc.Arbitrary<Caller> = fc.oneof(
  randomVisitor,
  fc.constantFrom<Caller>(administrator, secondAdministrator),
);
