import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** The folder of the project. */
export const root = join(import.meta.dirname, "../..");

/**
 * The folder of a floor that a file belongs to: `gateway/cache`, `features/console`; for files
 * directly on it the file itself.
 */
export const partOf = (file: string): string => {
  const [floor = "", folder = ""] = file.replace(/^src\//, "").split("/");
  return floor === "transforms" ? floor : `${floor}/${folder}`;
};

/** The floor that a file lies on: `catalogue`, `gateway`, `transforms` ...; `root` for a file directly in `src`. */
export const floorOf = (path: string): string => {
  const [top = "", floor = "", folder] = path.split("/");
  if (top !== "src") return top;
  return folder === undefined ? "root" : floor;
};

/** The files of the project that a file imports, types included, by their paths from the root. */
const importedBy = (path: string, text: string): string[] =>
  [...text.matchAll(/\b(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g)].map(([, target = ""]) =>
    normalize(join(dirname(path), target)),
  );

/** All files of the floors. */
export const sourceFiles = (): string[] =>
  globSync("{src,transforms,libraries,features,tools}/**/*.{ts,js}", { cwd: root });

export type Import = { from: string; to: string };

/** Every import in a file of the floors of one of these or of `fixtures`, types included. */
export const importsOf = (): Import[] => {
  const files = new Set(sourceFiles());
  const targets = new Set([...files, ...globSync("fixtures/*.ts", { cwd: root })]);
  return [...files].flatMap((file) =>
    importedBy(file, readFileSync(join(root, file), "utf8"))
      .filter((to) => targets.has(to))
      .map((to) => ({ from: file, to })),
  );
};

/** The parts, or files, that import one another, directly or through others. */
export const cyclesOf = (imports: readonly Import[], of = partOf): string[][] => {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of imports)
    if (of(from) !== of(to)) edges.set(of(from), (edges.get(of(from)) ?? new Set()).add(of(to)));
  const reachable = (start: string): Set<string> => {
    const found = new Set<string>();
    const next = [start];
    for (let part = next.pop(); part !== undefined; part = next.pop())
      for (const to of edges.get(part) ?? [])
        if (!found.has(to)) {
          found.add(to);
          next.push(to);
        }
    return found;
  };
  const inCycle = [...edges.keys()].filter((part) => reachable(part).has(part));
  return inCycle.length === 0 ? [] : [inCycle];
};
