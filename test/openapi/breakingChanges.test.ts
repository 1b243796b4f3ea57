import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { breakingChanges, type OpenApi } from "./breakingChanges.ts";

const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as OpenApi;
const released = globSync("docs/releases/openapi-*.json").toSorted((a, b) =>
  a.localeCompare(b, "en", { numeric: true }),
);

/** What the document of 0.1.0 says and no gateway ever did: fields and statuses that never came, and offsets beyond exact integers. */
const corrected = [
  /list.*: 200\.\*\.uploader: it is gone$/,
  /exists\/.*: (200\.exists: it|status 410) is gone$/,
  /datasets\/list: body\.(pagination\.)?offset: maximum was none, is 9007199254740991$/,
  // The object with the other offset is compared with `null`, too.
  /datasets\/list: body\.pagination: null became object$/,
];

test("docs/openapi.json breaks no client of the last release", () => {
  expect(released.length).toBeGreaterThan(0);
  const broken = breakingChanges(read(released.at(-1) as string), read("docs/openapi.json"));
  expect(broken.filter((change) => !corrected.some((one) => one.test(change)))).toEqual([]);
});

const answer = {
  type: "object",
  properties: {
    id: { type: "integer" },
    name: { type: "string" },
    kind: { enum: ["a", "b"] },
    tags: { type: "array", items: { type: "string" } },
    inner: { $ref: "#/components/schemas/Answer" },
  },
  required: ["id"],
};
const body = {
  type: "object",
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 100 },
    tag: { anyOf: [{ type: "string", pattern: "^a" }, { type: "null" }] },
    status: { enum: ["x", "y"] },
    ids: { type: "array", items: { type: "integer" }, maxItems: 5 },
  },
  additionalProperties: false,
};
const base = {
  paths: {
    "/things/{id}": {
      get: {
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
        responses: { 200: { $ref: "#/components/responses/thing" }, 404: { headers: { A: {} } } },
      },
      post: { requestBody: { content: { "application/json": { schema: body } } }, responses: {} },
    },
  },
  components: {
    schemas: { Answer: answer },
    responses: { thing: { content: { "application/json": { schema: { $ref: "#/components/schemas/Answer" } } } } },
  },
};

/** The base with the value at this path replaced; `undefined` removes it. */
const changed = (path: string, value?: unknown): OpenApi => {
  const copy = structuredClone(base) as Record<string, unknown>;
  const keys = path.split(" ");
  let place = copy;
  for (const key of keys.slice(0, -1)) place = place[key] as typeof place;
  const last = keys.at(-1) as string;
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy as OpenApi;
};

const get = "paths /things/{id} get";
const thing = "components schemas Answer";
const posted = "paths /things/{id} post requestBody content application/json schema";

test.each<[what: string, path: string, value: unknown, expected: string]>([
  ["a removed operation", get, undefined, "GET /things/{id}: the operation is gone"],
  ["a removed status", `${get} responses 404`, undefined, "GET /things/{id}: status 404 is gone"],
  ["a removed header", `${get} responses 404 headers A`, undefined, "header A of 404 is gone"],
  [
    "a removed type",
    "components responses thing content application/json",
    undefined,
    "application/json of 200 is gone",
  ],
  ["a removed property", `${thing} properties name`, undefined, "200.name: it is gone"],
  ["a property that may be absent", `${thing} required`, [], "200.id: it may be absent now"],
  ["another type", `${thing} properties id type`, "string", "200.id: integer became string"],
  ["a type beside it", `${thing} properties id type`, ["integer", "null"], "200.id: integer became null"],
  ["another type of entries", `${thing} properties tags items type`, "integer", "200.tags.*: string became integer"],
  ["a new value of an enumeration", `${thing} properties kind enum`, ["a", "b", "c"], "200.kind: c is new"],
  ["a key that is needed", `${get} security`, [{ key: [] }], "it needs a key now"],
  ["another type of a parameter", `${get} parameters 0 schema type`, "string", "path.id: integer became string"],
  ["a body that is required", "paths /things/{id} post requestBody required", true, "the body is required now"],
  ["a removed input", `${posted} properties status`, undefined, "body.status: it is gone"],
  ["a new required input", `${posted} required`, ["limit"], "body.limit: it is required now"],
  ["a lower maximum", `${posted} properties limit maximum`, 50, "body.limit: maximum was 100, is 50"],
  ["a higher minimum", `${posted} properties limit minimum`, 2, "body.limit: minimum was 1, is 2"],
  ["a shorter list", `${posted} properties ids maxItems`, 4, "body.ids: maxItems was 5, is 4"],
  ["a new bound", `${posted} properties tag anyOf 0 maxLength`, 9, "body.tag: maxLength was none, is 9"],
  ["another pattern", `${posted} properties tag anyOf 0 pattern`, "^b", "body.tag: another pattern"],
  ["a value that is refused", `${posted} properties status enum`, ["x"], "body.status: y is refused now"],
  [
    "null that is refused",
    `${posted} properties tag`,
    { type: "string", pattern: "^a" },
    "body.tag: null became string",
  ],
])("%s breaks clients", (_, path, value, expected) => {
  expect(breakingChanges(base as unknown as OpenApi, changed(path, value)).join("\n")).toContain(expected);
});

test.each<[what: string, path: string, value: unknown]>([
  ["nothing", "components other", {}],
  ["a new operation", "paths /others", { get: { responses: {} } }],
  ["a new status", `${get} responses 409`, {}],
  ["a new property", `${thing} properties more`, { type: "string" }],
  ["a property that is always there", `${thing} required`, ["id", "name"]],
  ["a new input", `${posted} properties more`, { type: "string" }],
  ["a higher maximum", `${posted} properties limit maximum`, 200],
  ["an input of any type", `${posted} properties status`, {}],
  ["an integer where a number was", `${thing} properties inner`, { $ref: "#/components/schemas/Answer" }],
])("%s breaks no client", (_, path, value) => {
  expect(breakingChanges(base as unknown as OpenApi, changed(path, value))).toEqual([]);
});
