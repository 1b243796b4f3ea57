import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

/**
 * The OpenAPI Initiative's own schema of documents, with `$ref` in place of `$dynamicRef`, which ajv
 * does not resolve everywhere.
 */
const official = JSON.parse(readFileSync(join(import.meta.dirname, "openapi-3.1.schema.json"), "utf8")) as object;
const validateDocument = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).compile(official);

/** Where a document is no valid OpenAPI 3.1, and why. */
export const openApiErrors = (document: unknown): string[] =>
  validateDocument(document)
    ? []
    : (validateDocument.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

/** A schema of the document, as it stands there. */
export type Schema = Record<string, unknown>;
type Media = { schema: Schema; example?: unknown };

/** A response, with its references resolved. `headers` are in lower case; errors name none. */
export type Answer = { headers?: ReadonlySet<string>; content: Readonly<Record<string, Media>> };

/** One operation, with its references resolved. */
export type Operation = {
  operationId: string;
  body?: Media & { required: boolean };
  /** By status; 0: every other status. */
  answers: ReadonlyMap<number, Answer>;
};

type Raw = Record<string, unknown>;

/** The operations of a document of OpenAPI 3.1, and a check of values by its schemas. */
export const openSchemas = (document: string) => {
  const raw = JSON.parse(document) as { paths: Record<string, Record<string, Raw>>; components: Raw };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "document", components: raw.components });
  const compiled = new Map<string, ValidateFunction>();

  const resolved = (value: unknown): unknown => {
    const { $ref } = value as { $ref?: string };
    if ($ref === undefined) return value;
    let found: unknown = raw;
    for (const key of $ref.slice(2).split("/")) found = (found as Raw)[key];
    return found;
  };

  const operations = Object.values(raw.paths).flatMap((methods) =>
    Object.values(methods).map((operation): Operation => {
      const body = operation["requestBody"] as { required: boolean; content: Record<string, Media> } | undefined;
      return {
        operationId: operation["operationId"] as string,
        ...(body ? { body: { required: body.required, ...(body.content["application/json"] as Media) } } : {}),
        answers: new Map(
          Object.entries(operation["responses"] as Raw).map(([status, response]) => {
            const { headers, content = {} } = resolved(response) as { headers?: Raw; content?: Answer["content"] };
            const names = headers && new Set(Object.keys(headers).map((name) => name.toLowerCase()));
            return [status === "default" ? 0 : Number(status), names ? { headers: names, content } : { content }];
          }),
        ),
      };
    }),
  );

  const validatorOf = (schema: Schema): ValidateFunction => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    const made = compiled.get(text) ?? ajv.compile(JSON.parse(text) as Schema);
    compiled.set(text, made);
    return made;
  };
  return {
    document: { operations },
    validate: (schema: Schema, value: unknown): boolean => validatorOf(schema)(value),
  };
};
