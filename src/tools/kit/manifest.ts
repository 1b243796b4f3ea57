type About = { version: string; license: string; devDependencies: { msw: string } };

/** The name of the kit's package and of its program: `npx NAME` runs the program of that package only. */
const NAME = "catalog-gateway-kit";

/** The package.json of the kit, from the gateway's own. */
export const kitManifest = ({ version, license, devDependencies }: About) => ({
  name: NAME,
  version,
  description: "The legacy catalogue interface and the new one for tests: msw handlers, and a server for any language.",
  license,
  type: "module",
  exports: { "./fixtures": { types: "./fixtures/index.d.ts", default: "./fixtures/index.js" } },
  bin: { [NAME]: "./src/tools/serveKit/main.js" },
  peerDependencies: { msw: `^${devDependencies.msw}` },
  engines: { node: ">=22" },
});
