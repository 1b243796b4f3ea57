import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { kitManifest } from "../../../tools/kit/buildKit.ts";
import { importsIn, packagesIn } from "../../support/imports.ts";

test("the kit's files import each other, Node, and the packages of its manifest", () => {
  const sources = kitManifest.files.map((path) => (path.endsWith(".js") ? path.replace(/js$/, "ts") : `${path}/*.ts`));
  const files = globSync(sources);
  const imports = files.flatMap((from) =>
    importsIn(readFileSync(from, "utf8")).map((name) => ({ from, name, to: join(from, "..", name) })),
  );
  const left = imports.filter(({ name, to }) => name.startsWith(".") && !files.includes(to));
  expect(left).toEqual([]);
  const packages = packagesIn(imports.map(({ name }) => name));
  expect(new Set(packages)).toEqual(new Set(Object.keys(kitManifest.peerDependencies)));
});
