import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { clientSource } from "./clientSource.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const settings = {
  compilerOptions: {
    target: "es2022",
    lib: ["es2023", "dom"],
    types: [],
    module: "nodenext",
    strict: true,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: ".",
  },
  include: ["**/*.ts"],
};

/**
 * Compiles the client of these endpoints into the folder `client`: modules without dependencies, and their types. Their sources, the files
 * of runtime/ and one that is made of the definitions, are written into the folder `sources`. Both folders are emptied before. Throws where
 * the source does not compile.
 */
export const buildClient = (endpoints: Readonly<Record<string, Endpoint>>, sources: string, client: string): void => {
  for (const folder of [sources, client]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  cpSync(join(import.meta.dirname, "runtime"), join(sources, "runtime"), { recursive: true });
  writeFileSync(join(sources, "index.ts"), clientSource(endpoints).replaceAll("./runtime.ts", "./runtime/index.ts"));
  writeFileSync(join(sources, "package.json"), `{"type": "module"}\n`);
  writeFileSync(join(sources, "tsconfig.json"), JSON.stringify(settings));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, "-p", sources, "--outDir", client], { stdio: "inherit" });
  // Deno reads the types of a JavaScript module only where it says so.
  const entry = join(client, "index.js");
  writeFileSync(entry, `// @ts-self-types="./index.d.ts"\n${readFileSync(entry, "utf8")}`);
};
