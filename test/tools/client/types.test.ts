import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPairs } from "../../../fixtures/pairs.ts";
import { clientSource, operationTable } from "../../../src/tools/client/clientSource.ts";
import { schemaType } from "../../../src/tools/client/schemaType.ts";
import type { Json } from "../../../src/rules/rule.ts";
import { endpoints } from "../../../transforms/index.ts";

const root = join(import.meta.dirname, "../../..");

/** What tsc says of this source beside the client's: `""` where it fits. */
const compiled = (source: string): string => {
  const folder = mkdtempSync(join(root, "node_modules/.client-types-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(root, "src/tools/client/runtime"), join(folder, "runtime"), { recursive: true });
  writeFileSync(join(folder, "index.ts"), clientSource(endpoints).replaceAll("./runtime.ts", "./runtime/index.ts"));
  writeFileSync(join(folder, "use.ts"), source);
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const settings = { target: "es2022", lib: ["es2023", "dom"], types: [], module: "nodenext", strict: true };
  const compilerOptions = { ...settings, noEmit: true, allowImportingTsExtensions: true };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  try {
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { stdio: "pipe" });
    return "";
  } catch (error) {
    return String((error as { stdout: Buffer }).stdout);
  }
};

/** A value as source whose texts keep their own types. */
const literal = (value: unknown): string => {
  if (typeof value === "string") return `${JSON.stringify(value)} as const`;
  if (Array.isArray(value)) return value.length === 0 ? "[] as never[]" : `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}: ${literal(one)}`)
    .join(", ")} }`;
};

test("the answers of all fixtures have their types, and wrong uses do not compile", () => {
  const answers = readPairs()
    .filter(({ expected }) => expected.status === 200)
    .map(
      ({ endpoint, expected }, i) => `const answer${i} = ${literal(expected.body)};
given<Operations["${endpoint}"]["answer"]>(answer${i});`,
    );
  expect(answers.length).toBeGreaterThan(150);
  const use = `import { isCatalogError, openClient, type Operations } from "./index.ts";
declare const given: <T>(value: T) => void;
${answers.join("\n")}
const client = openClient({ baseUrl: "https://catalogue.example/v1" });
export const use = async (): Promise<string | undefined> => {
  for await (const { did, name } of client.listDatasets.each({ tag: "a" })) given<[number, string | null]>([did, name]);
  // @ts-expect-error an input that is needed
  await client.getDataset();
  // @ts-expect-error no field of a dataset
  (await client.getDataset({ dataset_id: 61 })).nme;
  // @ts-expect-error no list in pages
  client.getDataset.each;
  // @ts-expect-error not one of the statuses
  await client.listDatasets({ status: "gone" });
  try {
    await client.listEvaluationMeasures();
  } catch (error) {
    if (!isCatalogError(error)) throw error;
    const { failure } = error;
    if (failure.kind === "invalid-input") given<422>(failure.status);
    if (failure.status === 404) return failure.code satisfies string | undefined;
    // @ts-expect-error a 422 has entries, other failures have none
    given<unknown[]>(failure.errors);
  }
  return undefined;
};`;
  expect(compiled(use)).toBe("");
});

test.each<[Json, string]>([
  [{ type: ["string", "null"] }, "string | null"],
  [{ type: "array", items: { anyOf: [{ type: "integer" }, { type: "null" }] } }, "(number | null)[]"],
  [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
  [{ const: "x" }, '"x"'],
  [{ anyOf: [{ type: "string" }, {}] }, "unknown"],
  [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
  [
    {
      type: "object",
      properties: { a: { type: "boolean" }, "b-c": { $ref: "#/components/schemas/flow" } },
      required: ["a"],
    },
    '{ "a": boolean; "b-c"?: Flow }',
  ],
  [{ allOf: [{ type: "object", properties: {} }, { $ref: "#/x/flow" }] }, "{  } & Flow"],
  [true, "unknown"],
])("%j is the type %s", (schema, type) => {
  expect(schemaType(schema, () => "Flow")).toBe(type);
});

test("every list in pages knows the code of a page without a row", () => {
  const lists = Object.values(operationTable(endpoints)).filter(({ page }) => page !== undefined);
  expect(lists.length).toBeGreaterThan(6);
  expect(lists.filter(({ noRows }) => noRows === undefined)).toEqual([]);
});

test("each endpoint is called by its first POST, else by its first route", () => {
  expect(operationTable(endpoints)).toMatchObject({
    getDataset: { method: "GET", path: "/datasets/{dataset_id}" },
    listDatasets: { method: "POST", path: "/datasets/list", page: 1000, noRows: "372" },
    tagDataset: { method: "POST", path: "/datasets/tag", writes: true },
  });
});
