import { expect, test } from "vitest";
import { readableOf, readLegacyAnswer } from "../../src/catalogue/reading/readAnswer.ts";
import { transform } from "../../src/catalogue/endpoint/transform.ts";
import { xmlReaderFor } from "../../src/catalogue/legacy/xml.ts";
import { servingNote } from "../../src/catalogue/rules/notes.ts";
import type { JsonObject } from "../../src/catalogue/rules/rule.ts";
import { getFlow } from "../../transforms/getFlow.ts";

/** A flow with `depth` flows nested in it. */
const flowOf = (depth: number): JsonObject => {
  let flow: JsonObject = { id: "1" };
  for (let id = 2; id <= depth + 1; id++) flow = { id: String(id), component: { identifier: [], flow } };
  return { flow };
};
const transformed = (depth: number) =>
  transform(
    getFlow.output,
    flowOf(depth),
    servingNote(() => undefined),
  );
const groupsOf = (depth: number): string[] => {
  const task = { endpoint: "getFlow", as: "answer" as const, input: { flow_id: depth + 1 } };
  const read = readLegacyAnswer(readableOf("getFlow", getFlow), task, Buffer.from(JSON.stringify(flowOf(depth))));
  return "written" in read ? [...read.written.groups] : [];
};

test("getFlow: flows are read as deep as PHP writes JSON, refused beyond the bound", () => {
  // PHP writes 512 levels: two for each flow.
  expect(transformed(256).ok).toBe(true);
  expect(transformed(340).ok).toBe(false);
  expect(transformed(100_000).ok).toBe(false);
});

test("nested flows are read from XML as deep, and refused beyond the bound", () => {
  const xml = (depth: number): string =>
    depth === 0
      ? "<oml:id>1</oml:id>"
      : `<oml:id>1</oml:id><oml:component><oml:flow>${xml(depth - 1)}</oml:flow></oml:component>`;
  const readXml = xmlReaderFor(getFlow);
  const read = (depth: number) => readXml(`<oml:flow xmlns:oml="http://openml.org/openml">${xml(depth)}</oml:flow>`);
  expect(read(256)).toBeDefined();
  expect(read(1000)).toBeUndefined();
});

test("a flow belongs to the groups of up to 100 nested flows, then of all flows", () => {
  expect(groupsOf(2)).toEqual(["flow/3", "flow", "flow/2", "flow/1"]);
  expect(groupsOf(100)).toHaveLength(102);
  expect(groupsOf(101)).toEqual(["flow/102", "flow", "flows"]);
});
