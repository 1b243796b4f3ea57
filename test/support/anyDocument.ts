import fc from "fast-check";
import { trimmed } from "../../src/catalogue/rules/blanks.ts";
import { entriesOf, member } from "../../src/catalogue/rules/compose.ts";
import { isUnset, type Json, type Rule } from "../../src/catalogue/rules/rule.ts";
import { anyText } from "./anyText.ts";

/** Characters that XML does not have, and line breaks that its readers change. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const changed = /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g;
/** A text that rules and readers leave as it is: it does not begin or end with blanks. */
const text = anyText({ maxLength: 8 }).map((drawn) => `${trimmed(drawn.replaceAll(changed, ""))}.`);
/** An entry of a list that legacy has as one text: it has no comma, and no quotes, which are removed around it. */
const entry = text.map((drawn) => drawn.replaceAll(/[,"']/g, "_"));
const number = fc.double({ noDefaultInfinity: true, noNaN: true }).map((drawn) => drawn + 0);
const date = fc.date({ min: new Date("1990-01-01"), max: new Date("2090-01-01"), noInvalidDate: true });
const listOf = (entries: fc.Arbitrary<Json>) => fc.array(entries, { maxLength: 3 });

/** The values of rules without a rule inside, by their names. */
const values: Record<string, fc.Arbitrary<Json>> = {
  text,
  number,
  markup: text,
  integer: fc.integer(),
  boolean: fc.boolean(),
  timestamp: date.map((drawn) => drawn.toISOString().slice(0, 19)),
  lowercase: text.map((drawn) => drawn.toLowerCase()),
  numberList: fc.array(fc.option(number), { minLength: 1, maxLength: 3 }),
  jsonList: fc.oneof(text, listOf(listOf(fc.integer()))),
  commaSeparated: listOf(entry),
  urlList: listOf(entry.map((drawn) => `http://a/${drawn}`)),
  nominalValues: listOf(text),
};

/** The effect of rules around another on its values, by their names. */
const around: Record<string, (inner: fc.Arbitrary<Json>) => fc.Arbitrary<Json>> = {
  nullable: (inner) => fc.option(inner),
  optional: (inner) => inner.filter((drawn) => !isUnset(drawn)),
  havingValue: (inner) => inner.map((drawn) => entriesOf(drawn).filter((each) => member(each, "value") !== null)),
  withoutRepeats: (inner) =>
    inner.map((drawn) => [...new Map(entriesOf(drawn).map((each) => [JSON.stringify(each), each])).values()]),
};

/** Any document that a tree of rules reads from some document of legacy, except conditions between its fields. */
export const anyDocument = (rule: Rule, depth = 0): fc.Arbitrary<Json> => {
  const value = values[rule.name];
  if (value) return value;
  const { "*": item, "": inner = rule.repeats?.(), ...fields } = rule.inside ?? {};
  if (item) return depth > 2 ? fc.constant([]) : listOf(anyDocument(item, depth));
  if (inner) {
    const drawn = anyDocument(inner, rule.repeats ? depth + 1 : depth);
    return around[rule.name]?.(drawn) ?? drawn;
  }
  const kept = Object.entries(fields).filter(([, field]) => field.name !== "dropped");
  const requiredKeys = kept.flatMap(([key, field]) => (field.mayBeAbsent ? [] : [key]));
  const members = Object.fromEntries(kept.map(([key, field]) => [key, anyDocument(field, depth)]));
  return fc.record(members, { requiredKeys, noNullPrototype: true });
};
