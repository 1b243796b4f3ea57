import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import about from "../../../package.json" with { type: "json" };
import { endpoints } from "../../../transforms/index.ts";
import { onlyHelp } from "../onlyHelp.ts";
import { buildClient } from "./build.ts";
import { pythonTypes } from "./pythonTypes.ts";

onlyHelp(`npm run build:client
  Writes the package of the typed client into client/, for npm pack ./client, and the same types for Python into client/python/.`);

const root = fileURLToPath(new URL("../../../", import.meta.url));
const client = join(root, "client");

buildClient(endpoints, join(root, ".cache/client"), client);
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
