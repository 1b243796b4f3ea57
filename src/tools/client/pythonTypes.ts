import { FetchingJSONSchemaStore, InputData, JSONSchemaInput, quicktype } from "quicktype-core";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { openApiDocument } from "../../openapi/openApiDocument.ts";
import type { JsonObject } from "../../rules/rule.ts";

/** The types of all answers and errors as models of pydantic, made by quicktype from the schemas of the document. */
export const pythonTypes = async (endpoints: Readonly<Record<string, Endpoint>>): Promise<string> => {
  const document = openApiDocument({ version: "", prefix: "/", endpoints });
  const text = JSON.stringify((document["components"] as JsonObject)["schemas"]);
  const definitions = JSON.parse(text.replaceAll("#/components/schemas/", "#/definitions/")) as Record<
    string,
    JsonObject
  >;
  const schemas = new JSONSchemaInput(new FetchingJSONSchemaStore());
  for (const [name, schema] of Object.entries(definitions))
    await schemas.addSource({
      name: name.replace(/^./, (first) => first.toUpperCase()),
      schema: JSON.stringify({ ...schema, definitions }),
    });
  const inputData = new InputData();
  inputData.addInput(schemas);
  const rendererOptions = { "python-version": "3.7", "pydantic-base-model": true, "just-types": true } as const;
  const { lines } = await quicktype({ inputData, lang: "python", rendererOptions });
  return `# Made by npm run build:client from the definitions of the endpoints.\n${lines.join("\n")}`;
};
