import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cyclesOf, floorOf, type Import, importsOf, partOf, root, sourceFiles } from "./imports.ts";

const imports = importsOf();
/**
 * The floors that each floor may import beside itself; `root`: `main.ts` and `serveCommand.ts`, which put everything
 * together, and `thin.ts`.
 */
const below: Record<string, readonly string[]> = {
  catalogue: [],
  transforms: ["catalogue"],
  operation: ["catalogue"],
  gateway: ["operation", "catalogue"],
  libraries: ["gateway", "operation", "catalogue"],
  features: ["libraries", "gateway", "operation", "catalogue"],
  tools: ["libraries", "gateway", "operation", "catalogue", "transforms", "fixtures"],
  root: ["tools", "features", "libraries", "gateway", "operation", "catalogue", "transforms", "fixtures"],
};
const departures = (isWrong: (one: Import) => boolean): string[] =>
  imports.filter(isWrong).map(({ from, to }) => `${from} -> ${to}`);

test("the imports are found, and each file lies on a floor", () => {
  expect(imports).toContainEqual({ from: "transforms/getSetup.ts", to: "src/catalogue/index.ts" });
  expect(new Set(sourceFiles().map(floorOf))).toEqual(new Set(Object.keys(below)));
  const ofRoot = sourceFiles().filter((file) => floorOf(file) === "root");
  expect(new Set(ofRoot)).toEqual(new Set(["src/main.ts", "src/serveCommand.ts", "src/thin.ts"]));
});

test("a floor imports itself and the floors below it", () => {
  expect(
    departures(({ from, to }) => floorOf(from) !== floorOf(to) && !below[floorOf(from)]?.includes(floorOf(to))),
  ).toEqual([]);
});

/** A floor's door names all that others may import of it. */
const doors = new Set(["catalogue", "operation", "gateway"].map((floor) => `src/${floor}/index.ts`));
/** Where the features are named: they are opened by the first, their settings are joined by the second. */
const lists = ["features/index.ts", "features/settings.ts"];
const inThreads = [
  "src/gateway/threads/thread.ts",
  "libraries/stores/dataDirectory.ts",
  "features/diskCache/entryFile.ts",
];
/**
 * The files that may import modules beside the doors: the composition root, mostly loaded late, what threads load,
 * which is little, and the server of the kit. The kit has no doors, since they import packages: what
 * it takes of `src`, for the server and for `fixtures`, are the light files of its manifest.
 */
const besideDoors = (file: string): boolean =>
  floorOf(file) === "root" || file.startsWith("tools/serveKit/") || [...lists, ...inThreads].includes(file);

test("a floor's modules are imported by its door, from the inside by themselves", () => {
  const crosses = ({ from, to }: Import) => floorOf(from) !== floorOf(to) && to.startsWith("src/");
  expect(departures((path) => crosses(path) && !doors.has(path.to) && !besideDoors(path.from))).toEqual([]);
  expect(departures((path) => !crosses(path) && doors.has(path.to))).toEqual([]);
});

/** The names that a text imports or exports by a path that ends so. */
const namesIn = (text: string, path: string): string[] =>
  [...text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from "([^"]+)";$/gm)]
    .filter(([, , from = ""]) => from.endsWith(path))
    .flatMap(([, names = ""]) => names.split(",").map((name) => name.trim().replace(/^type | as .*$/g, "")))
    .filter((name) => name !== "");

/** The files that import each name by a door. */
const usersBy = (door: string): Map<string, string[]> => {
  const users = new Map<string, string[]>();
  for (const file of [...sourceFiles(), ...globSync("fixtures/*.ts", { cwd: root })].filter((path) => path !== door))
    for (const name of namesIn(readFileSync(join(root, file), "utf8"), `${door.split("/")[1]}/index.ts`))
      users.set(name, [...(users.get(name) ?? []), file]);
  return users;
};

test.each([...doors])("each name of %s is imported from outside of it", (door) => {
  const users = usersBy(door);
  const named = namesIn(readFileSync(join(root, door), "utf8"), ".ts");
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !users.has(name))).toEqual([]);
});

test("thin.ts imports the gateway and its endpoints alone", () => {
  const ofThin = imports.filter(({ from }) => from === "src/thin.ts").map(({ to }) => floorOf(to));
  expect(new Set(ofThin)).toEqual(new Set(["gateway", "operation", "transforms"]));
});

test("a feature imports no other one, and the command line alone imports their lists", () => {
  const isOther = ({ from, to }: Import) => floorOf(to) === "features" && partOf(from) !== partOf(to);
  const isList = ({ from }: Import) => lists.includes(from);
  const isRoot = ({ from }: Import) => floorOf(from) === "root";
  expect(departures((path) => isOther(path) && !isList(path) && !isRoot(path))).toEqual([]);
});

test("no folder is in an import cycle", () => {
  expect(cyclesOf(imports.filter(({ from }) => floorOf(from) !== "root"))).toEqual([]);
});

test("no file is in an import cycle, not even by a type", () => {
  expect(cyclesOf(imports, (file) => file)).toEqual([]);
});

/** The modules of Node that the catalogue and `transforms` may import, by the importing file. */
const ofNode: Record<string, readonly string[]> = {
  "src/catalogue/rules/parsers.ts": ["node:module"],
  "transforms/catalogue.ts": ["node:path", "node:url"],
};

test("the catalogue and its endpoints know no network, file, thread, clock or process", () => {
  const pure = sourceFiles().filter((file) => ["catalogue", "transforms"].includes(floorOf(file)));
  const found = pure.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8").replaceAll(/\/\*[^]*?\*\//g, "");
    const modules = [...text.matchAll(/from "(node:[^"]+)"/g)].map(([, name = ""]) => name);
    const globals = [...text.matchAll(/\b(process|performance|setTimeout|setInterval|fetch)\b[.(]|\bDate\.now\b/g)];
    return [
      ...modules.filter((name) => name !== "node:buffer" && !ofNode[file]?.includes(name)),
      ...globals.map(([name]) => name),
    ].map((name) => `${file}: ${name}`);
  });
  expect(found).toEqual([]);
});
