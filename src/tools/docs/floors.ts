import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dirname, "../../..");

/** The floors from the top, what each is, and the lines that are drawn between them. */
const floors: [name: string, what: string][] = [
  ["root", "main.ts, serveCommand.ts: the command line; joins everything"],
  ["tools", "what the other commands do"],
  ["features", "each can be deleted"],
  ["libraries", "what several features and tools are made of; no request needs them"],
  ["gateway", "one request in, one answer out"],
  ["operation", "what runs it"],
  ["transforms", "the knowledge: one file an endpoint"],
  ["catalogue", "what an interface is made of; pure"],
];

/** The floors that a request passes. */
const passed = ["gateway", "catalogue"];

type File = { floor: string; folder: string; lines: number; imports: Set<string> };

const placeOf = (path: string): Pick<File, "floor" | "folder"> => {
  const [top = "", floor = "", folder = ""] = path.split("/");
  if (top !== "src") return { floor: top, folder: "" };
  if (folder === "") return { floor: "root", folder: "" };
  return { floor, folder: folder.includes(".") ? "" : folder };
};

const filesOfSource = (): File[] =>
  globSync("{src,transforms}/**/*.{ts,cjs,js,css}", { cwd: root }).map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const imported = [...text.matchAll(/\b(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g)];
    const targets = imported.map(([, target = ""]) => placeOf(normalize(join(dirname(path), target))).floor);
    return { ...placeOf(path), lines: text.split("\n").length - 1, imports: new Set(targets) };
  });

const sum = (files: readonly File[]): number => files.reduce((all, { lines }) => all + lines, 0);
/** To the next hundred: the table changes only where the code does. */
const rounded = (lines: number): string => (Math.round(lines / 100) * 100).toLocaleString("en");

/** The picture of the floors, as a block of text: what each is, its lines, its folders, and the floors that it imports. */
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
      `${(floor === "root" ? "src" : floor).padEnd(11)}${rounded(sum(own)).padStart(7)}   ${what}`,
      ...(floor === "features" || floor === "tools" || named.length === 0
        ? []
        : [`${" ".repeat(21)}${named.map(([name]) => name).join(", ")}`]),
      ...(below.length === 0 || floor === "root" ? [] : [`${" ".repeat(21)}imports ${below.join(", ")}`]),
    ].join("\n");
  });
  const ofRequest = files.filter(({ floor }) => passed.includes(floor));
  return [
    `What a request passes is ${rounded(sum(ofRequest))} of ${rounded(sum(files))} lines: \`${passed.join("` and `")}\`. \`operation\` runs it, \`transforms\` knows the endpoints. Everything else can be taken out.`,
    "",
    "```",
    blocks.join("\n\n"),
    "```",
  ].join("\n");
};
