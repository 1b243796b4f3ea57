import type { Endpoint } from "../../endpoint/endpoint.ts";
import { exampleTarget } from "../../endpoint/canonicalRequest.ts";
import type { Field } from "../../endpoint/field.ts";
import { readInput } from "../../endpoint/input.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import type { FixtureAsk } from "./exchange.ts";
import type { RecordTools } from "./job.ts";

/** The request that arguments describe, or their errors. `61` is allowed if one field is required, else `name=value`. */
export const requestFromArguments = (
  endpoint: Endpoint,
  args: readonly string[],
): { ask: FixtureAsk } | { errors: string[] } => {
  const fields = endpoint.input as Record<string, Field<unknown>>;
  const allowed = `allowed are ${Object.keys(fields).map(describeField(fields)).join(", ") || "none"}`;
  const [only, ...others] = Object.keys(fields).filter((name) => fields[name]?.fallback === undefined);
  const given: { name: string; loc: string[]; text: string }[] = [];
  for (const arg of args) {
    const [, name, text] = /^(\w+)=(.*)$/s.exec(arg) ?? [];
    const isNamed = name !== undefined && (Object.hasOwn(fields, name) || only === undefined || others.length > 0);
    if (isNamed) given.push({ name, loc: [name], text: text ?? "" });
    else if (only !== undefined && others.length === 0) given.push({ name: only, loc: [only], text: arg });
    else return { errors: [`${JSON.stringify(arg)}: fields are given as name=value; ${allowed}`] };
  }
  const reading = readInput(fields, given, "");
  if ("errors" in reading)
    return {
      errors: reading.errors.map(
        // What is allowed follows, with what is required.
        ({ loc, msg }) => `${loc.filter(Boolean).join(".")}: ${msg.replace(/; allowed: .*$/, "")}; ${allowed}`,
      ),
    };
  const path = exampleTarget(endpoint, Object.fromEntries(given.map(({ name, text }) => [name, text])));
  return path === undefined
    ? { errors: ["It has no route that these fields can be asked by with GET."] }
    : { ask: { method: "GET", path } };
};

const describeField =
  (fields: Record<string, Field<unknown>>) =>
  (name: string): string =>
    fields[name]?.fallback === undefined ? `${name} (required)` : name;

/** The endpoint of this name, if it only reads: recording must not write. */
export const readingEndpoint = (
  name: string,
  { catalogue }: Pick<RecordTools, "catalogue">,
): { endpoint: Endpoint } | { errors: string[] } => {
  const { endpoints } = catalogue;
  const reading = Object.keys(endpoints).filter((one) => endpoints[one]?.writes === undefined);
  const endpoint = Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
  const why = endpoint === undefined ? "unknown endpoint" : endpoint.writes && "it writes, which recording must not";
  return endpoint === undefined || why !== undefined
    ? { errors: [`${name}: ${why}; allowed are ${reading.join(", ")}`] }
    : { endpoint };
};

/** A request for each id of a range; or why the endpoint does not answer for an id alone. */
export const requestsById = (
  name: string,
  endpoint: Endpoint,
  { from, to, keyed }: { from: number; to: number; keyed: boolean },
): AsyncIterable<CorpusRequest> | { errors: string[] } => {
  const requestFor = (id: number) => requestFromArguments(endpoint, [String(id)]);
  const first = requestFor(from);
  if ("errors" in first) return first;
  return (async function* () {
    for (let id = from; id <= to; id++) {
      const request = requestFor(id);
      if ("ask" in request) yield { endpoint: name, method: "GET", path: request.ask.path, keyed, shape: name };
    }
  })();
};
