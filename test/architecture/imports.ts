import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The part of the source that a file belongs to: `cache`, `features/console`, `tools/docs`, `transforms`, or `src` for files directly in it. */
export const partOf = (file: string): string => {
  const [top = "", folder = "", name = ""] = file.split("/");
  if (top !== "src") return top;
  if (folder.endsWith(".ts")) return "src";
  return (folder === "features" || folder === "tools") && !name.endsWith(".ts") ? `${folder}/${name}` : folder;
};

export type Import = { from: string; to: string };

/** Every import in a file of `src` and `transforms` of one of these or of `fixtures`, types included. */
export const importsOf = (): Import[] => {
  const files = new Set(globSync("{src,transforms}/**/*.{ts,js}", { cwd: root }));
  const targets = new Set([...files, ...globSync("fixtures/*.ts", { cwd: root })]);
  return [...files].flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/\b(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g)]
      .map(([, path = ""]) => normalize(join(dirname(file), path)))
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
