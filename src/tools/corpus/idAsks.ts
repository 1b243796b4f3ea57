import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Field } from "../../endpoint/field.ts";
import type { CorpusRequest } from "./ask.ts";
import { requestFor } from "./askOf.ts";

/** Every id of every endpoint that answers for one id, all endpoints of an id together; made as they are taken. */
export const idRequests = function* (
  endpoints: Record<string, Endpoint>,
  ids: Iterable<number>,
): Generator<CorpusRequest> {
  const endpointsById = Object.entries(endpoints).flatMap(([name, endpoint]) => {
    const needed = Object.entries(endpoint.input).filter(([, { fallback }]) => fallback === undefined);
    const [only] = needed;
    return only && needed.length === 1 && isIdentifier(only[1]) ? [{ name, endpoint, field: only[0] }] : [];
  });
  for (const id of ids)
    for (const { name, endpoint, field } of endpointsById) {
      const ask = requestFor(name, endpoint, { [field]: id });
      if (ask) yield ask;
    }
};

/** It reads `1` as a number that can exist, and `0` as one that cannot: a count or a bound would take both. */
const isIdentifier = (field: Field<unknown>): boolean => {
  const reading = field.fromText("1");
  return "value" in reading && reading.value === 1 && field.possible?.(1) === true && !field.possible(0);
};
