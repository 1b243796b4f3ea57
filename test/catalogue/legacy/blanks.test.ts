import { expect, test } from "vitest";
import { readLegacy } from "../../../src/catalogue/legacy/reading.ts";
import { xmlReader } from "../../../src/catalogue/legacy/xml.ts";

/** Blanks that JavaScript's `trim` takes off and PHP's does not. */
const NO_BLANKS = "\u00a0\u3000\ufeff";
/** An XML form; `comment`: behind the root's tag, so that the parser has to read it. */
const xmlOf = (content: string, comment = "") =>
  `<oml:a xmlns:oml="http://openml.org/openml">${comment}${content}</oml:a>\n`;

const read = xmlReader(["a.markup", "a.both"], ["a.listed", "a.both"]);

test.each([
  ["blanks of ASCII are taken off", "\n \t x y \n", "x y"],
  ["other blanks stay", `\t${NO_BLANKS} x ${NO_BLANKS}\n`, `${NO_BLANKS} x ${NO_BLANKS}`],
  ["other blanks alone are a text", ` ${NO_BLANKS} `, NO_BLANKS],
  ["blanks alone are no text", "\n \t ", []],
  ["blanks that are escaped are taken off", "&#32;&#10;x&#9;", "x"],
])("in XML, whichever reader reads it, %s", (_, written, text) => {
  for (const comment of ["", "<!-- c -->"])
    expect(read(xmlOf(`<oml:b>${written}</oml:b>`, comment))).toEqual({ a: { b: text } });
});

test("text beside an element keeps its inner blanks; those between elements go", () => {
  const xml = xmlOf('\n<oml:b n="1"> x <oml:c>y</oml:c> z </oml:b>\n<oml:d n="2">\n<oml:e>1</oml:e>\n</oml:d>\n');
  expect(read(xml)).toEqual({ a: { b: { n: "1", c: "y", value: "x  z" }, d: { n: "2", e: "1" } } });
});

test.each([
  ["with markup", "markup", "R&D <b>x</b>"],
  ["that is not escaped, in a document", "both", "R&D <b>x</b>"],
])("a text %s loses the blanks that legacy's JSON lacks", (_, name, text) => {
  expect(read(xmlOf(`<oml:${name}>\n ${text}\t</oml:${name}>`))).toEqual({ a: { [name]: text } });
  expect(read(xmlOf(`<oml:${name}>${NO_BLANKS}${text}</oml:${name}>`))).toEqual({ a: { [name]: NO_BLANKS + text } });
  expect(read(xmlOf(`<oml:${name}> \n</oml:${name}>`))).toEqual({ a: { [name]: [] } });
});

test("a text that is not escaped keeps its blanks in a list, as in legacy's JSON", () => {
  expect(read(xmlOf("<oml:listed> R&D \n</oml:listed>"))).toEqual({ a: { listed: " R&D \n" } });
});

test("an error's text has the same blanks from either form", () => {
  const error = (message: string) => ({ is: "error", code: 111, message });
  const json = JSON.stringify({ error: { code: "111", message: ` a${NO_BLANKS}\n` } });
  const xml = `<oml:error xmlns:oml="http://openml.org/openml"><oml:code>111</oml:code><oml:message> a${NO_BLANKS}\n</oml:message></oml:error>`;
  for (const body of [json, xml]) expect(readLegacy(Buffer.from(body), read)).toEqual(error(`a${NO_BLANKS}`));
});
