import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import about from "../../../package.json" with { type: "json" };
import { endpoints } from "../../../transforms/index.ts";
import { onlyHelp } from "../onlyHelp.ts";
import { clientSource } from "./clientSource.ts";
import { pythonTypes } from "./pythonTypes.ts";

onlyHelp(`npm run build:client
  Writes the package of the typed client into client/, for npm pack ./client, and the same types for Python into client/python/.`);

// A compiled package without dependencies: its sources are the files of runtime/, and one that is made of the definitions.
const root = fileURLToPath(new URL("../../../", import.meta.url));
const sources = join(root, ".cache/client");
const client = join(root, "client");

for (const folder of [sources, client]) rmSync(folder, { recursive: true, force: true });
mkdirSync(client, { recursive: true });
cpSync(join(import.meta.dirname, "runtime"), join(sources, "runtime"), { recursive: true });
writeFileSync(join(sources, "index.ts"), clientSource(endpoints).replaceAll("./runtime.ts", "./runtime/index.ts"));
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
    outDir: client,
  },
  include: ["**/*.ts"],
};
writeFileSync(join(sources, "package.json"), `{"type": "module"}\n`);
writeFileSync(join(sources, "tsconfig.json"), JSON.stringify(settings));
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", sources], { stdio: "inherit" });

// Deno reads the types of a JavaScript module only where it says so.
const entry = join(client, "index.js");
writeFileSync(entry, `// @ts-self-types="./index.d.ts"\n${readFileSync(entry, "utf8")}`);
mkdirSync(join(client, "python"));
writeFileSync(join(client, "python/catalog_types.py"), await pythonTypes(endpoints));
cpSync(join(root, "LICENSE"), join(client, "LICENSE"));
cpSync(join(import.meta.dirname, "package.md"), join(client, "README.md"));
const manifest = {
  name: "catalog-client",
  version: about.version,
  description: "A typed client of the machine-learning catalogue, for Node, browsers and Deno.",
  license: about.license,
  type: "module",
  sideEffects: false,
  exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
  engines: { node: ">=20" },
};
writeFileSync(join(client, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
console.log(`client/ is ${manifest.name} ${manifest.version}: npm pack ./client`);
