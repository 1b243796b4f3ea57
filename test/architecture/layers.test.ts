import { expect, test } from "vitest";
import { cyclesOf, type Import, importsOf, partOf } from "./imports.ts";

const imports = importsOf();
const across = imports.filter(({ from, to }) => partOf(from) !== partOf(to));
const isFeature = (part: string) => part.startsWith("features");
/** `main.ts` and the command that serves: they put everything together. */
const isRoot = (file: string) => partOf(file) === "src";
const isTool = (part: string) => part.startsWith("tools/");
const departures = (isWrong: (from: string, to: string, about: Import) => boolean): string[] =>
  across.filter((one) => isWrong(partOf(one.from), partOf(one.to), one)).map(({ from, to }) => `${from} -> ${to}`);

test("the imports are found", () => {
  expect(across.length).toBeGreaterThan(0);
  expect(across).toContainEqual({ from: "transforms/getSetup.ts", to: "src/endpoint/endpoint.ts" });
});

test("the core imports no feature, and only the command line the list", () => {
  const isList = (path: string) => path === "src/features/index.ts";
  const lists = imports.filter(({ to }) => isList(to)).map(({ from }) => from);
  expect(new Set(lists)).toEqual(new Set(["src/main.ts", "src/serveCommand.ts"]));
  expect(departures((from, to, one) => isFeature(to) && !isFeature(from) && !isList(one.to))).toEqual([]);
});

test("a feature imports the core and no other feature", () => {
  expect(departures((from, to) => isFeature(to) && from.startsWith("features/"))).toEqual([]);
});

test("nothing imports tools but other tools and the command line", () => {
  expect(departures((from, to, one) => isTool(to) && !isTool(from) && !isRoot(one.from))).toEqual([]);
});

test("transforms import endpoint and rules only", () => {
  expect(departures((from, to) => from === "transforms" && to !== "endpoint" && to !== "rules")).toEqual([]);
});

test("only main.ts and tools join src with transforms, and only tools with fixtures", () => {
  expect(departures((from, to, one) => to === "transforms" && !isRoot(one.from) && !isTool(from))).toEqual([]);
  expect(departures((from, to, one) => to === "fixtures" && !isRoot(one.from) && !isTool(from))).toEqual([]);
});

test("no folder is in an import cycle", () => {
  expect(cyclesOf(imports.filter(({ from }) => partOf(from) !== "src"))).toEqual([]);
});

test("no file of serve is in an import cycle", () => {
  const inServe = imports.filter(({ from, to }) => partOf(from) === "serve" && partOf(to) === "serve");
  expect(inServe.length).toBeGreaterThan(0);
  expect(cyclesOf(inServe, (file) => file)).toEqual([]);
});
