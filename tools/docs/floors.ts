import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The floors from the top, and what each is. */
const floors: [name: string, what: string][] = [
  ["root", "main.ts, serveCommand.ts: the command line; joins everything. thin.ts: the gateway alone"],
  ["tools", "what the other commands do"],
  ["features", "each can be deleted"],
  ["libraries", "what several features and tools are made of; no request needs them"],
  ["gateway", "one request in, one answer out"],
  ["operation", "what runs it"],
  ["transforms", "the endpoints: a file for each"],
  ["catalogue", "what an interface is made of; pure"],
];

/** The floors below `src`: with `transforms` they are the gateway, the others are added to it. */
const ofGateway = new Set(["gateway", "operation", "catalogue"]);
const placeOf = (floor: string): string => {
  if (floor === "root") return "src";
  return ofGateway.has(floor) ? `src/${floor}` : floor;
};

/** The floors that a request passes. */
const passed = ["gateway", "catalogue"];

/** The floor that a file lies on: `catalogue`, `gateway`, `transforms` ...; `root` for a file directly in `src`. */
export const floorOf = (path: string): string => {
  const [top = "", floor = "", folder] = path.split("/");
  if (top !== "src") return top;
  return folder === undefined ? "root" : floor;
};

/** The files of the project that a file imports, types included, by their paths from the root. */
export const importedBy = (path: string, text: string): string[] =>
  [...text.matchAll(/\b(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g)].map(([, target = ""]) =>
    normalize(join(dirname(path), target)),
  );

type File = { floor: string; folder: string; lines: number; imports: Set<string> };

/** The folder of a floor; empty for a file directly on it. */
const folderOf = (path: string): string => {
  const [, folder = ""] = path.replace(/^src\//, "").split("/");
  return folder.includes(".") ? "" : folder;
};

const filesOfSource = (): File[] =>
  globSync("{src,transforms,libraries,features,tools}/**/*.{ts,cjs,js,css}", { cwd: root }).map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const imports = new Set(importedBy(path, text).map(floorOf));
    return { floor: floorOf(path), folder: folderOf(path), lines: text.split("\n").length - 1, imports };
  });

const sum = (files: readonly File[]): number => files.reduce((all, { lines }) => all + lines, 0);
/** Rounded to hundreds: a small change of the code does not change the picture. */
const rounded = (lines: number): string => (Math.round(lines / 100) * 100).toLocaleString("en");

const ofRequest = (files: readonly File[]): string => rounded(sum(files.filter(({ floor }) => passed.includes(floor))));

/** The lines that a request passes, as they are written in a text. */
export const passedLines = (): string => ofRequest(filesOfSource());

/**
 * The picture of the floors, as a block of text: what each is, its lines, its folders, and the floors that it imports.
 */
export const floorsPicture = (): string => {
  const files = filesOfSource();
  const blocks = floors.map(([floor, what]) => {
    const own = files.filter((file) => file.floor === floor);
    const folders = Map.groupBy(own, ({ folder }) => folder);
    const named = [...folders].filter(([name]) => name !== "").toSorted(([, a], [, b]) => sum(b) - sum(a));
    const below = floors
      .map(([name]) => name)
      .filter((name) => name !== floor && own.some((one) => one.imports.has(name)));
    return [
      `${placeOf(floor).padEnd(14)}${rounded(sum(own)).padStart(7)}   ${what}`,
      ...(floor === "features" || floor === "tools" || named.length === 0
        ? []
        : [`${" ".repeat(24)}${named.map(([name]) => name).join(", ")}`]),
      ...(below.length === 0 || floor === "root" ? [] : [`${" ".repeat(24)}imports ${below.join(", ")}`]),
    ].join("\n");
  });
  return [
    `What a request passes is ${ofRequest(files)} of ${rounded(sum(files))} lines: \`${passed.join("` and `")}\`.\n\`operation\` runs it, \`transforms\` knows the endpoints. Everything else can be taken out: \`src/thin.ts\` starts what is left.`,
    "",
    "```",
    blocks.join("\n\n"),
    "```",
  ].join("\n");
};
