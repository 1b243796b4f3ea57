const imports =
  /^\s*(?:import|export)\s+(?!type\b)(?:[^"';]*?\bfrom\s+)?"([^"]+)"|\b(?:import|require|createRequire\(import\.meta\.url\))\("([^"]+)"\)/gm;

/** The modules that a module loads when it runs, as its imports name them. */
export const importsIn = (text: string): string[] =>
  [...text.matchAll(imports)].map(([, name = "", later = name]) => name || later);

/** The packages that are among these imports: `zod`, `@redis/client`; no part of Node. */
export const packagesIn = (names: readonly string[]): string[] => {
  const bare = names.filter((name) => /^[@\w]/.test(name) && !name.startsWith("node:"));
  return bare.map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/"));
};
