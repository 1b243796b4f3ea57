import { cpSync } from "node:fs";
import { join } from "node:path";
import about from "../../package.json" with { type: "json" };
import { buildId } from "../../src/operation/index.ts";
import { compilePackage, root, writeJson } from "../compile.ts";
import { productionLock } from "./productionLock.ts";

/** The lowest version of Node with which `.ci/run` tries the package. */
const LOWEST_NODE = "24.11.0";

/** The files that the pages load from packages, and their licences. `vendor` gets copies of them, not the packages. */
const vendored: Record<string, readonly string[]> = {
  "swagger-ui-dist": [
    "swagger-ui.css",
    "swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt",
    "LICENSE",
    "NOTICE",
  ],
  idiomorph: ["dist/idiomorph.min.js", "LICENSE"],
};

const packageManifest = () => ({
  name: about.name,
  version: about.version,
  description: about.description,
  license: about.license,
  type: about.type,
  /** See `buildId`. */
  build: buildId(),
  bin: { "catalog-gateway": "src/main.js" },
  exports: { "./package.json": "./package.json" },
  imports: { "#vendor/*": "./vendor/*" },
  // The code for the commands `record`, `kit` and `docs` is compiled, since main.ts names it, but is not packed.
  files: [
    "src",
    "transforms",
    "libraries",
    "features",
    "tools/*.js",
    "tools/compare",
    "tools/corpus",
    "tools/sampleLegacy",
    "fixtures/catalogue",
    "vendor",
    "npm-shrinkwrap.json",
  ],
  engines: { node: `>=${LOWEST_NODE}` },
  dependencies: Object.fromEntries(Object.entries(about.dependencies).filter(([name]) => vendored[name] === undefined)),
});

/** The versions with which the package is installed, without the packages whose files it contains. */
const shrinkwrapOf = ({ name, version, license, dependencies, bin, engines }: ReturnType<typeof packageManifest>) =>
  productionLock({ name, version, license, dependencies, bin, engines }, Object.keys(vendored));

/**
 * Writes the package of the gateway, which runs from `node_modules`, into a folder: `npm pack` makes a tarball of it.
 *
 * @throws If it cannot be compiled or written.
 */
export const buildPackage = (folder: string): void => {
  const manifest = packageManifest();
  compilePackage({
    project: "tsconfig.pack.json",
    folder,
    assets: ["{src,transforms,libraries,features,tools}/**/*.{js,cjs,css,json}", "fixtures/catalogue/*.json"],
    manifest,
    readme: join(import.meta.dirname, "package.md"),
  });
  writeJson(join(folder, "npm-shrinkwrap.json"), shrinkwrapOf(manifest));
  for (const [name, files] of Object.entries(vendored))
    for (const file of files) cpSync(join(root, "node_modules", name, file), join(folder, "vendor", name, file));
};
