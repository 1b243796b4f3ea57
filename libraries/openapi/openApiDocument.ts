import { z } from "zod";
import { dropped, type Endpoint, type Field, type Json, type JsonObject } from "../../src/catalogue/index.ts";
import { errorResponses, errorSchemas, errorsOf, schemaRef } from "./errorResponses.ts";
import { documentedHeaders, headerRefs } from "./replyHeaders.ts";

type Endpoints = Readonly<Record<string, Endpoint>>;

/** `prefix`: that of all paths. */
type DocumentSettings = { version: string; prefix: string; endpoints: Endpoints };

const introduction = `Typed answers about the datasets, setups, studies, flows and evaluations of a machine-learning catalogue.

**Begin** with \`POST /datasets/list\`, then ask for one dataset by its \`did\`. No key is needed to read what is public.

- Every answer is JSON. HEAD works wherever GET does, and each path answers with and without a slash at its end.
- An operation stands here under its main path; its description names the others. \`{...filters}\` at their end are pairs of a field and
  its value: \`/limit/10/offset/20\`.
- A field without a value is \`null\`, a list without entries \`[]\`. An answer may have more fields than its schema names.
- A key comes as \`X-API-Key: KEY\`, as \`Authorization: Bearer KEY\` or as \`?api_key=KEY\`. One that is sent has to be valid, everywhere.
- Errors are \`{"detail": ...}\`. They come as \`application/problem+json\` (RFC 9457) where \`Accept\` names that, unless \`application/json\` weighs more.
- A request that breaks HTTP, or for which the server has no room, is refused before anything is looked up for it. That is always
  \`{"detail": ...}\`, whatever \`Accept\` says: 400, 408, 417, 431, 503. The connection is closed.`;

/** The description of the new interface in OpenAPI 3.1, made from its endpoints' definitions. It takes up to 200 ms. */
export const openApiDocument = ({ version, prefix, endpoints }: DocumentSettings): JsonObject => {
  const operations = Object.entries(endpoints).map(([name, endpoint]) => operationOf(name, endpoint));
  const paths: Record<string, JsonObject> = {};
  for (const { path, method, operation } of operations) (paths[path] ??= {})[method] = operation;
  return {
    openapi: "3.1.1",
    info: {
      title: "Machine-learning catalogue",
      version,
      summary: "Datasets, setups, studies, flows and how they are evaluated.",
      description: introduction,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: prefix }],
    security: [{}, ...withKey],
    tags: [...new Set(Object.values(endpoints).map(groupOf))].map((name) => ({
      name,
      description: `Paths that begin with \`/${name}\`.`,
    })),
    paths,
    components: {
      securitySchemes: {
        apiKeyHeader: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer" },
        apiKeyQuery: { type: "apiKey", in: "query", name: "api_key" },
      },
      schemas: { ...answerSchemas(endpoints), ...errorSchemas },
      responses: {
        304: { description: "The client has the answer already." },
        ...errorResponses(prefix === "/" ? "" : prefix),
      },
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

const mainRoute = ({ routes }: Endpoint): string => routes[0] as string;

const groupOf = (endpoint: Endpoint): string => mainRoute(endpoint).split("/")[1] ?? "";

/** The operation of an endpoint's main route. */
const operationOf = (name: string, endpoint: Endpoint) => {
  const [verb, template] = mainRoute(endpoint).split(" ") as [string, string];
  const [method, path] = [verb.toLowerCase(), template.replaceAll("?}", "}")];
  const isConditional = method === "get" && endpoint.cache !== undefined;
  const statuses = [...(isConditional ? ["304"] : []), ...errorsOf(endpoint, method)];
  const description = describe(endpoint, template);
  const operation: JsonObject = {
    operationId: name,
    tags: [groupOf(endpoint)],
    summary: endpoint.summary,
    ...(description === "" ? {} : { description }),
    ...(endpoint.writes ? { security: withKey } : {}),
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, field = ""]) => fieldParameter(endpoint, field)),
      ...(isConditional ? [{ $ref: "#/components/parameters/IfNoneMatch" }] : []),
    ],
    ...(method === "post" ? { requestBody: requestBody(endpoint) } : {}),
    responses: {
      200: {
        description: endpoint.summary,
        headers: headerRefs(endpoint.writes !== undefined),
        content: { "application/json": { schema: schemaRef(name), ...withExample(endpoint.exampleAnswer) } },
      },
      ...Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${status}` }])),
    },
  };
  return { path, method, operation };
};

const describe = ({ routes }: Endpoint, template: string): string => {
  const mayBeEmpty = /\{(\w+)\?\}/.exec(template)?.[1];
  return [
    ...(mayBeEmpty === undefined ? [] : [`\`${mayBeEmpty}\` may be empty.`]),
    ...(routes.length > 1
      ? [
          `The same: ${routes
            .slice(1)
            .map((route) => `\`${route}\``)
            .join(", ")}.`,
        ]
      : []),
  ].join(" ");
};

const withExample = (example: Json | undefined): JsonObject => (example === undefined ? {} : { example });

const fieldParameter = (endpoint: Endpoint, name: string): JsonObject => ({
  name,
  in: "path",
  required: true,
  schema: jsonSchema((endpoint.input[name] as Field<unknown>).schema),
  ...withExample(exampleInput(endpoint)?.[name]),
});

const exampleInput = ({ examples }: Endpoint): JsonObject | undefined => Object.values(examples)[0];

const requestBody = (endpoint: Endpoint): JsonObject => {
  const { input, bodyObjects = {} } = endpoint;
  const fields = Object.entries(input) as [string, Field<unknown>][];
  const required = fields.filter(([, field]) => field.fallback === undefined).map(([name]) => name);
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, bodySchema(field)]));
  const objects = Object.entries(bodyObjects).map(([name, members]) => [
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
          properties: { ...properties, ...(Object.fromEntries(objects) as JsonObject) },
          ...(required.length > 0 ? { required } : {}),
          additionalProperties: false,
        },
        ...withExample(exampleInput(endpoint)),
      },
    },
  };
};

/** The schema of a body's field. A field that is `null` counts as not given. */
const bodySchema = ({ schema, fallback }: Field<unknown>): JsonObject => {
  const own = jsonSchema(schema);
  if (fallback === undefined) return own;
  const value = fallback.value as Json | undefined;
  return { anyOf: [own, { type: "null" }], ...(value === undefined ? {} : { default: value }) };
};

/** The schemas of all answers, by endpoint. A schema that refers to itself has its parts beside it. */
const answerSchemas = (endpoints: Endpoints): JsonObject =>
  Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, { output }]) => {
      const { $defs = {}, ...schema } = jsonSchema(output.schema) as JsonObject & { $defs?: JsonObject };
      const parts = Object.entries($defs).map(([part, inner]) => [`${name}_${part}`, referring(name, inner)]);
      return [[name, referring(name, schema)], ...parts] as [string, Json][];
    }),
  );

/** Rewrites the references within a schema: `#/$defs/x` is `#/components/schemas/NAME_x` in the document. */
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

/** The JSON Schema of a rule. A part without a JSON Schema, such as an unknown field of legacy, allows any value. */
const jsonSchema = (schema: z.ZodType): JsonObject => {
  const { $schema: _, ...written } = z.toJSONSchema(schema, {
    unrepresentable: "any",
    override({ zodSchema, jsonSchema: made }) {
      const { minimum, maximum, properties = {} } = made;
      // A dropped field is in no answer.
      const fields = zodSchema instanceof z.ZodObject ? Object.entries(zodSchema.shape) : [];
      for (const [name, field] of fields) if (field === dropped.schema) delete properties[name];
      // zod gives every integer the bounds of exact integers: they are removed. A rule's minimum has a maximum.
      if (minimum !== Number.MIN_SAFE_INTEGER) return;
      delete made.minimum;
      if (maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
    },
  });
  return written as JsonObject;
};
