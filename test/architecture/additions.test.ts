import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./imports.ts";

/** Adds nothing to a member of `Additions`, or to a list that the root makes for others. */
const EMPTY = /\w+: (?:\[\]|\(\) => (?:false|undefined|legacyDecision)|nothing\b.*)|\bsome\(\s*\)/g;

// Where the last feature of a list is deleted, the list goes too, and with it all that asks for it.
test("each list of the composition root has a feature that adds to it", () => {
  const [, opening = ""] = readFileSync(join(root, "features/index.ts"), "utf8").split("const openFeatures = ");
  expect(opening.match(/\bsome\(/g)?.length).toBeGreaterThan(10);
  expect(opening.match(EMPTY)).toBeNull();
  expect("layers: [],\n router: some(),\n decide: () => legacyDecision".match(EMPTY)).toHaveLength(3);
});
