import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import about from "../../../package.json" with { type: "json" };
import { openApiDocument } from "../../../libraries/openapi/openApiDocument.ts";
import { configurationSchema } from "../../../tools/docs/configurationSchema.ts";
import { endpoints } from "../../../transforms/index.ts";
import { fragments } from "../../support/settings.ts";

const docs = (...args: string[]) => spawnSync(process.execPath, ["src/main.ts", "docs", ...args], { encoding: "utf8" });
const printed = (...args: string[]): unknown => JSON.parse(docs(...args).stdout);

test("npm run docs -- openapi prints the document, with a prefix as an option", () => {
  const { version } = about;
  expect(printed("openapi", "--prefix", "/api/v2")).toEqual(openApiDocument({ version, prefix: "/api/v2", endpoints }));
});

test("npm run docs -- config-schema prints the schema of the configuration", () => {
  const schema = configurationSchema(fragments, Object.keys(endpoints));
  expect(printed("config-schema")).toEqual(JSON.parse(JSON.stringify(schema)));
});

test("npm run docs writes nothing for an unknown word, and says what is allowed", () => {
  const { status, stdout, stderr } = docs("nothing");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/nothing[^]*--help/);
});
