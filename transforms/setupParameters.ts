import {
  around,
  entriesOf,
  integer,
  type Json,
  list,
  nullable,
  object,
  renamed,
  type Rule,
  text,
} from "../src/catalogue/index.ts";

/** Leaves out repeated entries: legacy lists each parameter of a setup once for each of the setup's tags. */
const withoutRepeats = <T>(inner: Rule<T>): Rule<T> => ({
  name: "withoutRepeats",
  does: "an entry that stands there again is left out: `[1, 1, 2]` -> `[1, 2]`",
  schema: inner.schema,
  ...around(inner, withoutRepeats),
  read(legacy, note, parent) {
    const entries = entriesOf(legacy);
    const seen = new Set<string>();
    const isFirst = (entry: Json): boolean => {
      const written = JSON.stringify(entry);
      return !seen.has(written) && Boolean(seen.add(written));
    };
    const left = entries.length < 2 ? entries : entries.filter(isFirst);
    if (left.length === entries.length) return inner.read(legacy, note, parent);
    note.changed("withoutRepeats", legacy, left);
    return inner.read(left, note, parent);
  },
});

/** A parameter of a setup. `name` reads its second name, which only legacy's document of a single setup has. */
export const setupParameter = (name: Rule<string | null>) =>
  object({
    id: integer,
    flow_id: integer,
    flow_name: nullable(text),
    full_name: nullable(text),
    parameter_name: nullable(text),
    name,
    data_type: nullable(text),
    default_value: nullable(text),
    value: nullable(text),
  });

/** The parameters of a setup as lists have them: with a single name, which is read twice. */
export const listedParameters = withoutRepeats(list(setupParameter(renamed("parameter_name", nullable(text)))));

/** A parameter, in examples of answers. */
export const exampleParameter = {
  id: 9002,
  flow_id: 103,
  flow_name: "sample.Forest",
  full_name: "sample.Forest(2)_trees",
  parameter_name: "trees",
  name: "trees",
  data_type: "integer",
  default_value: "100",
  value: "50",
};
