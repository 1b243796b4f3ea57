import type { Command } from "commander";
import { openApiDocument } from "../../libraries/openapi/openApiDocument.ts";
import { configurationSchema } from "./configurationSchema.ts";
import { type Definitions, documentsWithTables, writeTables } from "./tables.ts";

const print = (document: object): void => void process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);

/** Gives a command the choice of documents to print. Without a choice `docs` rewrites the tables, in place. */
export const docsCommand = (command: Command, { version, ...definitions }: Definitions & { version: string }): void => {
  const { endpoints, fragments } = definitions;
  command
    .description(
      `Writes again, in place, the tables and figures of ${documentsWithTables.join(", ")}; or prints a document.`,
    )
    .action(() => writeTables(definitions));
  command
    .command("openapi")
    .description("print the description of the new interface in OpenAPI 3.1")
    .option("--prefix <path>", "where the new interface lies", "/v1")
    .action(({ prefix }: { prefix: string }) => print(openApiDocument({ version, prefix, endpoints })));
  command
    .command("config-schema")
    .description("print the JSON Schema of the configuration file, for editors")
    .action(() => print(configurationSchema(fragments, Object.keys(endpoints))));
};
