import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Field } from "../../endpoint/field.ts";
import type { Ask } from "./ask.ts";
import { askOf } from "./askOf.ts";

/** Every id of every endpoint that answers for one id, all endpoints of an id together; made as they are taken. */
export const idAsks = function* (endpoints: Record<string, Endpoint>, ids: Iterable<number>): Generator<Ask> {
  const asked = Object.entries(endpoints).flatMap(([name, endpoint]) => {
    const needed = Object.entries(endpoint.input).filter(([, { fallback }]) => fallback === undefined);
    const [only] = needed;
    return only && needed.length === 1 && isIdentifier(only[1]) ? [{ name, endpoint, field: only[0] }] : [];
  });
  for (const id of ids)
    for (const { name, endpoint, field } of asked) {
      const ask = askOf(name, endpoint, { [field]: id });
      if (ask) yield ask;
    }
};

/** It reads `1` as a number that can exist, and `0` as one that cannot: a count or a bound would take both. */
const isIdentifier = (field: Field<unknown>): boolean => {
  const reading = field.fromText("1");
  return reading.ok && reading.value === 1 && field.possible?.(1) === true && !field.possible(0);
};
