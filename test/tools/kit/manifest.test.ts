import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { kitManifest } from "../../../src/tools/kit/buildKit.ts";

const { name, version, bin, exports } = kitManifest;

test("the kit's program has the name of its package, by which npx finds it", () => {
  expect(Object.keys(bin)).toEqual([name]);
});

test.each(["docs/tools.md", "src/tools/kit/package.md", "test/tools/kit/kit.test.ts"])(
  "%s names the kit's package, tarball and entry as they are built",
  (path) => {
    const text = readFileSync(path, "utf8");
    const entries = Object.keys(exports).map((entry) => name + entry.slice(1));
    for (const [, imported] of text.matchAll(/from "(catalog-gateway[^"]*)"/g)) expect(entries).toContain(imported);
    for (const [tarball] of text.matchAll(/catalog-gateway[\w-]*-[\d.]+tgz/g))
      expect(tarball).toBe(`${name}-${version}.tgz`);
    for (const [, run] of text.matchAll(/npx (?:--package \S+ )?(\S+) serve/g)) expect(run).toBe(name);
  },
);
