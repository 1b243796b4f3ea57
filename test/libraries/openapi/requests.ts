import fc from "fast-check";
import type { Operation, Schema } from "./schemas.ts";
import { anyText } from "../../support/anyText.ts";

/** A request for one operation, as it is sent. */
export type ConformRequest = {
  method: string;
  target: string;
  headers: Record<string, string>;
  body?: string;
  /** The values of its path and body before they were encoded; `body` is absent if the text is no JSON. */
  given: { path: Record<string, string>; body?: unknown };
};

/** The credentials that are tried: none, those that the server knows, and an unknown key. */
type Credentials = { known: readonly string[]; unknown: string };

/** The paths without parameters: these win over those with one. */
type FixedPaths = ReadonlySet<string>;

/** fast-check makes texts by a pattern without lookaheads: what these refuse is filtered out. */
const texts = (pattern: string | undefined, maxLength = 40): fc.Arbitrary<string> =>
  pattern === undefined
    ? anyText({ maxLength })
    : fc
        .oneof(fc.constant(COMMON), fc.stringMatching(new RegExp(pattern.replaceAll(/\(\?[=!][^)]*\)/g, ""), "u")))
        .filter((text) => new RegExp(pattern, "u").test(text) && text.length <= Math.max(300, maxLength));

/** A tag that many requests share: a tag can only be removed if it is there. */
const COMMON = "conform";

/** Values that fit a schema. Of JSON Schema only what the document uses; anything where nothing is said. */
const fitting = (schema: Schema): fc.Arbitrary<unknown> => {
  const { type, anyOf, enum: values, pattern, minimum, maximum, items, properties, required = [], maxItems } = schema;
  if (anyOf) return fc.oneof(...(anyOf as Schema[]).map(fitting));
  if (values) return fc.constantFrom(...(values as unknown[]));
  if (Array.isArray(type)) return fc.oneof(...type.map((name) => fitting({ ...schema, type: name as string })));
  if (type === "null") return fc.constant(null);
  if (type === "integer") {
    const [min, max] = [(minimum as number) ?? -(2 ** 31), (maximum as number) ?? 2 ** 53 - 1];
    return fc.oneof(
      fc.integer({ min: Math.max(min, 1), max: Math.min(max, 6) }),
      fc.integer({ min: Math.max(min, 1), max: Math.min(max, 130) }),
      fc.integer({ min, max }),
    );
  }
  if (type === "string") return texts(pattern as string | undefined, schema["maxLength"] as number | undefined);
  if (type === "array")
    return fc.array(fitting(items as Schema), { maxLength: Math.min(8, (maxItems as number) ?? 8) });
  if (type === "object") {
    const members = Object.entries((properties ?? {}) as Record<string, Schema>);
    return fc.record(Object.fromEntries(members.map(([name, member]) => [name, fitting(member)])), {
      requiredKeys: required as string[],
    });
  }
  return fc.jsonValue({ maxDepth: 2 });
};

const namesIn = (body: Schema): string[] => Object.keys(body["properties"] as object);

/** Few members, as clients send: most bodies with all of them match nothing. */
const sparse = (body: Schema): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(fitting(body), fc.subarray(namesIn(body), { maxLength: Math.min(3, namesIn(body).length) }))
    .map(([whole, names]) => {
      const wanted = new Set([...names, ...((body["required"] as string[] | undefined) ?? [])]);
      return Object.fromEntries(Object.entries(whole as object).filter(([name]) => wanted.has(name)));
    });

const strange = fc.oneof(
  anyText({ minLength: 1, maxLength: 30 }),
  fc.constantFrom("abc", "-1", "+7", "007", "1.5", "1e3", "9".repeat(400), "%", "a/b", "a b", "é", "list", "null", " "),
);

const pathValue = (operation: Operation, name: string): fc.Arbitrary<string> => {
  const { schema, example } = operation.parameters.get(name) as { schema: Schema; example?: unknown };
  const fits = fitting(schema).map((value) => String(value));
  const known = example === undefined ? fits : fc.constant(String(example as string | number));
  return fc
    .oneof({ arbitrary: known, weight: 3 }, { arbitrary: fits, weight: 4 }, { arbitrary: strange, weight: 2 })
    .filter((text) => text !== "" && text !== "." && text !== ".." && text.isWellFormed());
};

type Body = { text: string; type: string; coding?: string; value?: unknown };

const json = "application/json";
const written = (value: unknown): Body => ({ text: JSON.stringify(value), type: json, value });

const bodies = ({ body }: Operation): fc.Arbitrary<Body | undefined> => {
  if (body === undefined) return fc.constant(undefined);
  const { schema, example } = body;
  const names = namesIn(schema);
  const valid = fc.oneof(fc.constant(example), sparse(schema), fitting(schema)).map(written);
  const altered = fc
    .tuple(
      sparse(schema),
      fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 20 })),
      fc.jsonValue({ maxDepth: 2 }),
    )
    .map(([value, name, other]) => written(Object.fromEntries([...Object.entries(value), [name, other]])));
  const unreadable = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }).map(written),
    anyText({ maxLength: 40 }).map((text): Body => ({ text, type: json })),
    fc.constantFrom<Body>(
      { text: "", type: json, value: {} },
      { text: "a=b", type: "application/x-www-form-urlencoded" },
      { text: "{}", type: json, coding: "gzip" },
      { text: `{"tag":"a","tag":"b"}`, type: json },
    ),
  );
  return fc.oneof(
    { arbitrary: valid, weight: 6 },
    { arbitrary: altered, weight: 3 },
    { arbitrary: unreadable, weight: 1 },
  );
};

const queries = fc.oneof(
  { arbitrary: fc.constant(""), weight: 20 },
  { arbitrary: fc.constantFrom("?limit=5", "?a", "?api_key=", "?%", "?api_key=a&api_key=b"), weight: 1 },
);

const headersFrom = ({ known, unknown }: Credentials, needsKey: boolean): fc.Arbitrary<Record<string, string>> => {
  const valid = fc
    .constantFrom(...known)
    .chain((key) => fc.constantFrom({ "X-API-Key": key }, { Authorization: `Bearer ${key}` }));
  const credential = fc.oneof(
    { arbitrary: fc.constant({}), weight: needsKey ? 1 : 6 },
    { arbitrary: valid, weight: needsKey ? 8 : 2 },
    { arbitrary: fc.constantFrom({ "X-API-Key": unknown }, { Authorization: "Basic YTpi" }), weight: 1 },
  );
  const other = fc.record(
    {
      Accept: fc.constantFrom(json, "application/problem+json", "*/*", "text/html, application/problem+json;q=0.5"),
      "Accept-Encoding": fc.constantFrom("br", "gzip", "identity"),
      "If-None-Match": fc.constantFrom("*", '"a"', "W/x"),
      "Cache-Control": fc.constantFrom("no-cache", "no-store", "only-if-cached"),
      Origin: fc.constant("https://page.example"),
    },
    { requiredKeys: [] },
  );
  return fc.tuple(credential, other).map(([one, more]) => ({ ...one, ...more }) as Record<string, string>);
};

/** Valid and invalid requests for an operation. `prefix`: that of the document. */
export const requestsFor = (
  operation: Operation,
  { prefix, fixed, credentials }: { prefix: string; fixed: FixedPaths; credentials: Credentials },
): fc.Arbitrary<ConformRequest> => {
  const names = [...operation.parameters.keys()];
  const path = fc.record(Object.fromEntries(names.map((name) => [name, pathValue(operation, name)])));
  const isRead = operation.method === "get";
  return fc
    .tuple(
      path,
      bodies(operation),
      queries,
      headersFrom(credentials, operation.needsKey),
      fc.constantFrom("GET", "GET", "GET", "HEAD"),
      fc.constantFrom("", "", "", "/"),
    )
    .map(([values, body, query, headers, read, slash]) => {
      const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(values[name] as string),
      );
      const sent = {
        ...headers,
        ...(body === undefined ? {} : { "Content-Type": body.type }),
        ...(body?.coding === undefined ? {} : { "Content-Encoding": body.coding }),
      };
      return {
        method: isRead ? read : operation.method.toUpperCase(),
        target: `${prefix}${filled}${filled.endsWith("/") ? "" : slash}${query}`,
        path: filled,
        headers: sent,
        ...(body === undefined ? {} : { body: body.text }),
        given: { path: values, ...(body && "value" in body && body.coding === undefined ? { body: body.value } : {}) },
      };
    })
    .filter((request) => names.length === 0 || !fixed.has(request.path));
};
