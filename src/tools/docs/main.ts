import { parseArgs } from "node:util";
import { features } from "../../features/index.ts";
import { openApiDocument } from "../../openapi/openApiDocument.ts";
import { configurationSchema } from "../../settings/jsonSchema.ts";
import { endpoints } from "../../../transforms/index.ts";
import about from "../../../package.json" with { type: "json" };
import { documentsWithTables, writeTables } from "./tables.ts";

const usage = `npm run docs
  Writes again, in place, the tables of ${documentsWithTables.join(", ")}.
npm run -s docs -- openapi [--prefix PREFIX] [--rate-limit]
  Prints the description of the new interface in OpenAPI 3.1: below /v1, or PREFIX; with 429 for --rate-limit.
npm run -s docs -- config-schema
  Prints the JSON Schema of the configuration file, for editors.`;

const print = (document: object): void => void process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { prefix: { type: "string" }, "rate-limit": { type: "boolean" }, help: { type: "boolean", short: "h" } },
  });
  const [document] = positionals;
  const { prefix = "/v1", "rate-limit": isRateLimited = false, help = false } = values;
  if (help) console.log(usage);
  else if (document === undefined) writeTables(endpoints);
  else if (document === "openapi") print(openApiDocument({ version: about.version, prefix, isRateLimited, endpoints }));
  else if (document === "config-schema") {
    const fragments = features.map(({ settings }) => settings);
    print(configurationSchema(fragments, Object.keys(endpoints)));
  } else throw new Error(`${document}: unknown document; allowed are openapi and config-schema`);
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`);
  process.exitCode = 2;
}
