import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Field } from "../../endpoint/field.ts";
import { problemTypes } from "../../http/problemDetails.ts";
import { jsonSchema, openApiDocument } from "../../openapi/openApiDocument.ts";
import type { JsonObject } from "../../rules/rule.ts";
import type { OperationInfo } from "./runtime/client.ts";
import { schemaType } from "./schemaType.ts";

type Endpoints = Readonly<Record<string, Endpoint>>;

/** The rows of a page, where neither the caller nor the endpoint says otherwise. */
const PAGE = 1000;

/** How each endpoint is called: by its first POST, else by its first route. */
export const operationTable = (endpoints: Endpoints): Record<string, OperationInfo> =>
  Object.fromEntries(Object.entries(endpoints).map(([name, endpoint]) => [name, operationOf(endpoint)]));

const operationOf = (endpoint: Endpoint): OperationInfo => {
  const [first = ""] = endpoint.routes;
  const route = endpoint.routes.find((one) => one.startsWith("POST ")) ?? first;
  const [method, template] = route.split(" ") as ["GET" | "POST", string];
  const path = template.replace("/{...filters}", "").replaceAll("?}", "}");
  return {
    method,
    path,
    ...(template.endsWith("/{...filters}") ? { inPairs: true } : {}),
    ...(endpoint.writes ? { writes: true } : {}),
    ...(isPaged(endpoint) ? { page: pageOf(endpoint), ...noRowsOf(endpoint) } : {}),
  };
};

const isPaged = ({ input, output }: Endpoint): boolean =>
  "limit" in input && "offset" in input && jsonSchema(output.schema)["type"] === "array";

const pageOf = ({ input }: Endpoint): number => {
  const { maximum = PAGE } = jsonSchema((input["limit"] as Field<unknown>).schema) as { maximum?: number };
  return Math.min(PAGE, maximum);
};

const noRowsOf = ({ notFound }: Endpoint): Pick<OperationInfo, "noRows"> =>
  notFound?.code === undefined ? {} : { noRows: notFound.code };

/** The source of the client's entry: the types of all operations, answers and failures, and `openClient`. */
export const clientSource = (endpoints: Endpoints): string => {
  const document = openApiDocument({ version: "", prefix: "/", endpoints });
  const { schemas } = document["components"] as { schemas: JsonObject };
  const nameOf = (ref: string): string => typeName(ref.split("/").at(-1) as string);
  const answers = Object.entries(schemas)
    .filter(([name]) => endpoints[name.split("_")[0] as string] !== undefined)
    .map(([name, schema]) => `export type ${typeName(name)} = ${schemaType(schema, nameOf)};`);
  const operations = Object.entries(endpoints).map(
    ([name, endpoint]) => `  /** ${endpoint.summary} */
  ${name}: { input: ${inputType(endpoint)}; answer: ${typeName(name)}; row: ${isPaged(endpoint) ? `${typeName(name)}[number]` : "never"} };`,
  );
  const kinds = Object.fromEntries(Object.entries(problemTypes).map(([status, { slug }]) => [status, slug]));
  return `// Made by npm run build:client from the definitions of the endpoints.
import { type AnyFailure, CatalogError, type ClientOf, type ClientSettings, type InputFailure, openClientOf } from "./runtime.ts";
export { CatalogError, type CallOptions, type ClientSettings, type InputFailure } from "./runtime.ts";

${answers.join("\n\n")}

/** The operations: what each takes and answers. */
export interface Operations {
${operations.join("\n")}
}

type Common = Pick<AnyFailure, "message" | "code" | "additionalInformation" | "requestId" | "retryAfter">;
/** Why a call failed. \`kind\` and \`status\` tell the members apart. */
export type Failure =
${Object.entries(problemTypes)
  .map(([status, one]) => failureType(Number(status), one))
  .join("\n")}
  /** Another error. */
  | (Common & { kind: "unexpected"; status: number })
  /** There was no answer, after all retries. */
  | (Common & { kind: "unreachable"; status: 0 });

/** A client of the catalogue: one method for each operation. */
export type CatalogClient = ClientOf<Operations>;

const operations = ${JSON.stringify(operationTable(endpoints), undefined, 2)} as const;
const kinds: Readonly<Record<number, string>> = ${JSON.stringify(kinds)};

/** Opens a client. Nothing is sent before a method is called. */
export const openClient = (settings: ClientSettings): CatalogClient => openClientOf<Operations>(operations, kinds, settings);

/** Whether a call rejected with this because of an answer, or because there was none. */
export const isCatalogError = (error: unknown): error is CatalogError & { failure: Failure } => error instanceof CatalogError;
`;
};

const failureType = (status: number, { slug, title }: { slug: string; title: string }): string =>
  `  /** ${title}. */
  | (Common & { kind: ${JSON.stringify(slug)}; status: ${status}${status === 422 ? "; errors: InputFailure[]" : ""} })`;

const typeName = (name: string): string => name[0]?.toUpperCase() + name.slice(1);

const inputType = ({ input }: Endpoint): string => {
  const members = (Object.entries(input) as [string, Field<unknown>][]).map(
    ([name, { schema, fallback }]) =>
      `${JSON.stringify(name)}${fallback === undefined ? "" : "?"}: ${schemaType(jsonSchema(schema), () => "unknown")}`,
  );
  return members.length === 0 ? "Record<string, never>" : `{ ${members.join("; ")} }`;
};
