import fc from "fast-check";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { expect, test } from "vitest";
import { buildXml } from "../../../src/catalogue/endpoint/buildXml.ts";
import { hostileText as text } from "../../support/hostileText.ts";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  parseTagValue: false,
  trimValues: false,
  htmlEntities: true,
  processEntities: { enabled: true, maxTotalExpansions: Infinity, maxExpandedLength: Infinity },
  isArray: (name, _, isLeaf, isAttribute) => !isAttribute && isLeaf && name !== "root",
});

test("buildXml keeps every character of a text that XML 1.0 allows", () => {
  fc.assert(
    fc.property(text, (any) => {
      const written = buildXml({ root: { "@any": any, inside: `.${any}` } });
      expect(XMLValidator.validate(written)).toBe(true);
      const { root } = parser.parse(written) as { root: { "@any": string; inside: string[] } };
      // oxlint-disable-next-line no-control-regex -- the characters that XML 1.0 leaves out
      const kept = any.toWellFormed().replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "\uFFFD");
      expect(root["@any"]).toBe(kept);
      expect(root.inside).toEqual([`.${kept}`]);
    }),
    { numRuns: 500 },
  );
});
