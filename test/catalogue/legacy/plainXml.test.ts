import fc from "fast-check";
import { expect, test } from "vitest";
import { readPlainXml } from "../../../src/catalogue/legacy/plainXml.ts";
import { xmlReader } from "../../../src/catalogue/legacy/xml.ts";

const read = xmlReader(["a.b.c"], ["a.b.d"]);
const unescaped = { asWritten: new Set(["a.b.d"]), withMarkup: new Set(["a.b.c"]) };
const readPlain = (xml: string) => readPlainXml(xml, unescaped, (text) => text);

const root = '<oml:a xmlns:oml="http://openml.org/openml">';
const within = (xml: string) => `${root}${xml}</oml:a>`;

const text = fc
  .array(fc.constantFrom("x", "1", " ", "\n", "\r\n", "\t", "é", "&amp;", "&#65;", "]]>", ">", "'", '"'), {
    maxLength: 5,
  })
  .map((parts) => parts.join(""));
const blank = fc.constantFrom("", " ", "\n  ", "\r\n");
const { element } = fc.letrec<{ element: string }>((tie) => ({
  element: fc
    .record({
      name: fc.constantFrom("b", "c", "d", "e_f", "run_id"),
      content: fc.oneof(
        { weight: 2, arbitrary: text },
        fc.array(fc.tuple(blank, tie("element")), { maxLength: 4 }).map((some) => some.flat().join("")),
      ),
    })
    .map(({ name, content }) => `<oml:${name}>${content}</oml:${name}>`),
}));
const documents = fc
  .array(fc.tuple(blank, element), { maxLength: 6 })
  .map((some) => within(`${some.flat().join("")}\n`));

test("the plain reader reads a document as the parser does", () => {
  let plain = 0;
  fc.assert(
    fc.property(documents, (xml) => {
      if (readPlain(xml.replaceAll("\r\n", "\n")) !== undefined) plain++;
      // A comment is not plain, so that the parser reads the document.
      const byParser = read(xml.replace(root, `${root}<!-- c -->`));
      expect(read(xml)).toEqual(byParser);
    }),
    { numRuns: 1000 },
  );
  expect(plain).toBeGreaterThan(0);
});

test.each([
  ["attributes", within('<oml:b name="x">1</oml:b>')],
  ["a comment", within("<!-- c -->")],
  ["a part that is not parsed", within("<![CDATA[x]]>")],
  ["an instruction", within("<?x y?>")],
  ["an element without content", within("<oml:b/>")],
  ["another prefix", within("<b>1</b>")],
  ["text beside an element", within("x<oml:b>1</oml:b>")],
  ["a blank that XML does not know behind an element", within("<oml:b>1</oml:b>\u00a0")],
  ["a blank that XML does not know behind all", `${within("<oml:b>1</oml:b>")}\ufeff`],
  ["an element in a text that is not escaped", within("<oml:b><oml:d><oml:e>1</oml:e></oml:d></oml:b>")],
  ["an element in a text with markup", within("<oml:b><oml:c><oml:e>1</oml:e></oml:c></oml:b>")],
  ["a name that every object has", within("<oml:constructor>1</oml:constructor>")],
  ["an element that nothing closes", within("<oml:b>1")],
  ["a second root", `${within("1")}${within("2")}`],
  ["a hundred elements inside each other", within("<oml:b>".repeat(100) + "</oml:b>".repeat(100))],
])("a document with %s is left to the parser", (_, xml) => {
  expect(readPlain(xml)).toBeUndefined();
});

test("XML elements of one name become a list, empty elements included", () => {
  const xml = within("<oml:b></oml:b><oml:e>1</oml:e><oml:b>2</oml:b><oml:b></oml:b>");
  expect(read(xml)).toEqual({ a: { b: [[], "2", []], e: "1" } });
  expect(read(within(""))).toEqual({ a: [] });
});
