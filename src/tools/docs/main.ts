import { readFileSync, writeFileSync } from "node:fs";
import { features } from "../../features/index.ts";
import { configurationSchema } from "../../settings/jsonSchema.ts";
import { endpoints } from "../../../transforms/index.ts";
import { readPairs } from "../../../fixtures/pairs.ts";
import about from "../../../package.json" with { type: "json" };
import { onlyHelp } from "../onlyHelp.ts";
import { openApiText } from "./openapi.ts";
import { documentsWithTables, withTables } from "./tables.ts";

onlyHelp(`npm run docs
  Writes again, in place, what follows from the source: the tables of ${documentsWithTables.join(", ")},
  docs/config.schema.json and docs/openapi.json.`);

for (const path of documentsWithTables) {
  const file = new URL(`../../../${path}`, import.meta.url);
  writeFileSync(file, withTables(readFileSync(file, "utf8"), endpoints));
}

const schema = configurationSchema(
  features.map(({ settings }) => settings),
  Object.keys(endpoints),
);
writeFileSync(new URL("../../../docs/config.schema.json", import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);

const openApi = openApiText({ version: about.version, prefix: "/v1", endpoints, pairs: readPairs() });
writeFileSync(new URL("../../../docs/openapi.json", import.meta.url), openApi);
