import { join } from "node:path";
import msw from "msw/package.json" with { type: "json" };
import about from "../../package.json" with { type: "json" };
import { compilePackage, root } from "../compile.ts";

/** The name of the kit's package and of its program: `npx NAME` runs only the program of that package. */
const NAME = "catalog-gateway-kit";

/** The package.json of the kit. */
export const kitManifest = {
  name: NAME,
  version: about.version,
  description: "The legacy catalogue interface and the new one for tests: msw handlers, and a server for any language.",
  license: about.license,
  type: "module",
  exports: { "./fixtures": { types: "./fixtures/index.d.ts", default: "./fixtures/index.js" } },
  bin: { [NAME]: "./tools/serveKit/main.js" },
  // The only files of the gateway are those that import no package: the compiler also writes the files of types.
  files: [
    "fixtures",
    "tools/serveKit/*.js",
    "tools/sampleLegacy/tree.js",
    "src/catalogue/endpoint/credential.js",
    "src/catalogue/rules/parseJson.js",
    "src/gateway/http/mediaType.js",
    "src/operation/network/listen.js",
    "src/operation/settings/editDistance.js",
    "src/operation/settings/slips.js",
  ],
  peerDependencies: { msw: `^${about.devDependencies.msw}` },
  engines: msw.engines,
};

/**
 * Writes the package of fixtures and handlers into a folder. Returns a line that says how to pack it.
 *
 * @throws If it cannot be compiled or written.
 */
export const buildKit = (folder = join(root, "kit")): string => {
  compilePackage({
    project: "tsconfig.kit.json",
    folder,
    assets: ["fixtures/*.json"],
    manifest: kitManifest,
    readme: join(import.meta.dirname, "package.md"),
  });
  return `kit/ is ${NAME} ${about.version}: npm pack ./kit`;
};
