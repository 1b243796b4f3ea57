/** Finds the entry with the longest path that is a path's beginning, by whole segments; `/` covers all. */
export const longestPath = <T extends { path: string }>(entries: readonly T[]): ((path: string) => T | undefined) => {
  if (entries.length === 0) return () => undefined;
  const byPath = new Map(entries.map((entry) => [entry.path === "/" ? "" : entry.path, entry]));
  const deepest = Math.max(...[...byPath.keys()].map((path) => path.split("/").length - 1));
  return (path) => {
    let found = byPath.get("");
    let end = 0;
    for (let depth = 0; depth < deepest && end !== -1; depth++) {
      end = path.indexOf("/", end + 1);
      found = byPath.get(end === -1 ? path : path.slice(0, end)) ?? found;
    }
    return found;
  };
};
