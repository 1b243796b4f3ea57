import { z } from "zod";
import type { Endpoint, Route } from "../endpoint/endpoint.ts";
import type { Field } from "../endpoint/field.ts";
import { dropped } from "../rules/compose.ts";
import type { Json, JsonObject } from "../rules/rule.ts";
import type { ErrorBody } from "../http/problemDetails.ts";
import { errorResponse, errorSchemas, errorStatuses, schemaRef, sharedResponses } from "./errorResponses.ts";
import { documentedHeaders, headersOf } from "./replyHeaders.ts";

/** Examples of an endpoint: the JSON body of a request, the answer to it, and errors by status. */
export type Examples = { request?: Json; answer?: Json; errors: Readonly<Record<number, ErrorBody>> };

const noExamples: Examples = { errors: {} };

type DocumentSettings = {
  version: string;
  /** The prefix that paths are below. */
  prefix: string;
  endpoints: Readonly<Record<string, Endpoint>>;
  /** Examples by endpoint. */
  examples?: Readonly<Record<string, Examples>>;
};

const about = `Typed answers about the datasets, setups, studies, flows and evaluations of a machine-learning catalogue.

**Begin** with \`GET /datasets/list\`, then ask for one dataset by its \`did\`. No key is needed to read what is public.

- Every answer is JSON. HEAD works wherever GET does, and each path answers with and without a slash at its end.
- A field without a value is \`null\`, a list without entries \`[]\`. An answer may have more fields than its schema names.
- A key comes as \`X-API-Key: KEY\`, as \`Authorization: Bearer KEY\` or as \`?api_key=KEY\`. One that is sent has to be valid, everywhere.
- Errors are \`{"detail": ...}\`. They come as \`application/problem+json\` (RFC 9457) where \`Accept\` prefers that.
- A request that breaks HTTP, or for which the server has no room, is refused before anything is looked up for it. That is always
  \`{"detail": ...}\`, whatever \`Accept\` says: 400, 408, 417, 431, 503. The connection is closed.`;

/** The description of the new interface in OpenAPI 3.1, made of the definitions of its endpoints. */
export const openApiDocument = ({ version, prefix, endpoints, examples = {} }: DocumentSettings): JsonObject => {
  const base = prefix === "/" ? "" : prefix;
  return {
    openapi: "3.1.1",
    info: {
      title: "Machine-learning catalogue",
      version,
      summary: "Datasets, setups, studies, flows and how they are evaluated.",
      description: about,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: prefix }],
    security: [{}, ...withKey],
    tags: tagsOf(endpoints),
    paths: pathsOf(endpoints, examples),
    components: {
      securitySchemes: {
        apiKeyHeader: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer" },
        apiKeyQuery: { type: "apiKey", in: "query", name: "api_key" },
      },
      schemas: { ...answerSchemas(endpoints), ...errorSchemas },
      responses: Object.assign(
        sharedResponses(base),
        ...Object.entries(endpoints).map(([name, one]) => responsesOf(name, one, examples[name] ?? noExamples, base)),
      ) as JsonObject,
      headers: documentedHeaders,
      parameters: {
        IfNoneMatch: {
          name: "If-None-Match",
          in: "header",
          description: "The `ETag` of an answer that the client has: it is not sent again.",
          schema: { type: "string" },
        },
      },
    },
  };
};

const withKey: JsonObject[] = [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }];

const groupOf = (route: Route): string => route.split("/")[1] ?? "";

const tagsOf = (endpoints: Readonly<Record<string, Endpoint>>): JsonObject[] =>
  [...new Set(Object.values(endpoints).map(({ routes }) => groupOf(routes[0] as Route)))].map((name) => ({ name }));

/** One operation: the endpoint that answers it, and how it differs from the endpoint's first route. */
type Operation = {
  name: string;
  endpoint: Endpoint;
  method: string;
  path: string;
  parameters: JsonObject[];
  note?: string;
};

/** By path, its operations. An `operationId` is the endpoint's name, numbered from its second path on. */
const pathsOf = (
  endpoints: Readonly<Record<string, Endpoint>>,
  examples: Readonly<Record<string, Examples>>,
): JsonObject => {
  const paths: Record<string, JsonObject> = {};
  for (const [name, endpoint] of Object.entries(endpoints))
    for (const [i, operation] of operationsOf(name, endpoint).entries()) {
      const operationId = i === 0 ? name : `${name}${i + 1}`;
      const described = describe(operation, examples[name] ?? noExamples);
      (paths[operation.path] ??= {})[operation.method] = { operationId, ...described };
    }
  return paths;
};

/** A route may be several paths of OpenAPI, where a parameter is neither empty nor has slashes. */
const operationsOf = (name: string, endpoint: Endpoint): Operation[] =>
  endpoint.routes.flatMap((route, i): Operation[] => {
    const [verb, template] = route.split(" ", 2) as [string, string];
    const method = verb.toLowerCase();
    const same = i === 0 ? {} : { note: `The same as \`${endpoint.routes[0]}\`.` };
    const parametersOf = (path: string) =>
      [...path.matchAll(/\{(\w+)\}/g)].map(([, one = ""]) => fieldParameter(endpoint, one));
    if (template.endsWith("/{...filters}")) {
      const below = template.slice(0, -"/{...filters}".length);
      const note = `The same as \`${endpoint.routes[0]}\`; more pairs of a filter and a value may follow.`;
      return [
        { name, endpoint, method, path: below, parameters: [], ...same },
        { name, endpoint, method, path: `${below}/{filter}/{value}`, parameters: pairParameters(endpoint), note },
      ];
    }
    const path = template.replaceAll("?}", "}");
    const whole = { name, endpoint, method, path, parameters: parametersOf(path), ...same };
    const mayLack = /\{(\w+)\?\}$/.exec(template);
    if (mayLack === null) return [whole];
    const shorter = path.slice(0, -`{${mayLack[1]}}`.length);
    const parameters = parametersOf(shorter);
    return [whole, { name, endpoint, method, path: shorter, parameters, note: `With an empty \`${mayLack[1]}\`.` }];
  });

const fieldParameter = ({ input, examples }: Endpoint, name: string): JsonObject => {
  const example = Object.values(examples)[0]?.[name];
  return {
    name,
    in: "path",
    required: true,
    schema: jsonSchema((input[name] as Field<unknown>).schema),
    ...(example === undefined ? {} : { example }),
  };
};

const pairParameters = ({ input }: Endpoint): JsonObject[] => {
  const filters = Object.keys(input);
  const filter = filters.includes("limit") ? "limit" : (filters[0] as string);
  return [
    { name: "filter", in: "path", required: true, schema: { type: "string", enum: filters }, example: filter },
    { name: "value", in: "path", required: true, schema: { type: "string" }, example: "10" },
  ];
};

const describe = (
  { name, endpoint, method, parameters, note }: Operation,
  { request, errors }: Examples,
): JsonObject => {
  const isConditional = method === "get" && endpoint.cache !== undefined;
  return {
    tags: [groupOf(endpoint.routes[0] as Route)],
    summary: endpoint.summary,
    ...(note === undefined ? {} : { description: note }),
    ...(endpoint.writes ? { security: withKey } : {}),
    parameters: [...parameters, ...(isConditional ? [{ $ref: "#/components/parameters/IfNoneMatch" }] : [])],
    ...(method === "post" ? { requestBody: requestBody(endpoint, request) } : {}),
    responses: {
      200: responseRef(name),
      ...(isConditional ? { 304: responseRef("304") } : {}),
      ...(Object.fromEntries(
        errorStatuses(endpoint, method).map((status) => [
          status,
          responseRef(errors[status] ? `${name}_${status}` : String(status)),
        ]),
      ) as JsonObject),
    },
  };
};

const responseRef = (name: string): JsonObject => ({ $ref: `#/components/responses/${name}` });

/** The answers and errors of which an endpoint has an example of its own. Its errors are named by their status too. */
const responsesOf = (name: string, endpoint: Endpoint, { answer, errors }: Examples, base: string): JsonObject => ({
  [name]: {
    description: endpoint.summary,
    headers: headersOf(200, endpoint.writes !== undefined),
    content: {
      "application/json": { schema: schemaRef(name), ...(answer === undefined ? {} : { example: answer }) },
    },
  },
  ...(Object.fromEntries(
    Object.entries(errors).map(([status, body]) => [`${name}_${status}`, errorResponse(Number(status), base, body)]),
  ) as JsonObject),
});

const requestBody = ({ input, groups = {} }: Endpoint, example: Json | undefined): JsonObject => {
  const fields = Object.entries(input) as [string, Field<unknown>][];
  const required = fields.filter(([, field]) => field.fallback === undefined).map(([name]) => name);
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, bodySchema(field)]));
  const grouped = Object.entries(groups).map(([name, members]) => [
    name,
    {
      type: ["object", "null"],
      description: "Its members count as fields of their own. A field may be given once.",
      properties: Object.fromEntries(members.map((member) => [member, properties[member] as JsonObject])),
      additionalProperties: false,
    },
  ]);
  return {
    required: required.length > 0,
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: { ...properties, ...(Object.fromEntries(grouped) as JsonObject) },
          ...(required.length > 0 ? { required } : {}),
          additionalProperties: false,
        },
        ...(example === undefined ? {} : { example }),
      },
    },
  };
};

/** A field that is `null` counts as not given. */
const bodySchema = ({ schema, fallback }: Field<unknown>): JsonObject => {
  const own = jsonSchema(schema);
  if (fallback === undefined) return own;
  const value = fallback.value as Json | undefined;
  return { anyOf: [own, { type: "null" }], ...(value === undefined ? {} : { default: value }) };
};

/** The schemas of all answers, by endpoint; those that refer to themselves have parts of their own. */
const answerSchemas = (endpoints: Readonly<Record<string, Endpoint>>): JsonObject =>
  Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, { output }]) => {
      const { $defs = {}, ...schema } = jsonSchema(output.schema) as JsonObject & { $defs?: JsonObject };
      const parts = Object.entries($defs).map(([part, inner]) => [`${name}_${part}`, referring(name, inner)]);
      return [[name, referring(name, schema)], ...parts] as [string, Json][];
    }),
  );

/** `#/$defs/x` is of the schema alone: in the document it is `#/components/schemas/NAME_x`. */
const referring = (name: string, value: Json): Json => {
  if (Array.isArray(value)) return value.map((entry) => referring(name, entry));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== "$ref" || typeof inner !== "string") return [key, referring(name, inner)];
      const part = inner.startsWith("#/$defs/") ? `_${inner.slice("#/$defs/".length)}` : "";
      return [key, `#/components/schemas/${name}${part}`];
    }),
  );
};

/** What cannot be written as JSON Schema (a new field of legacy's, kept as it came) is any value. */
const jsonSchema = (schema: z.ZodType): JsonObject => {
  const { $schema: _, ...written } = z.toJSONSchema(schema, {
    unrepresentable: "any",
    override({ zodSchema, jsonSchema: made }) {
      const { minimum, maximum, properties = {} } = made;
      // A field that is dropped is in no answer.
      const fields = zodSchema instanceof z.ZodObject ? Object.entries(zodSchema.shape) : [];
      for (const [name, field] of fields) if (field === dropped.schema) delete properties[name];
      // zod names the bounds of exact integers everywhere; a bound of its own comes with another one.
      if (minimum !== Number.MIN_SAFE_INTEGER) return;
      delete made.minimum;
      if (maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
    },
  });
  return written as JsonObject;
};
