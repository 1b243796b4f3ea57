import type * as fastXmlParser from "fast-xml-parser";
import { xmlPackage } from "../rules/parsers.ts";

/**
 * A document as XML 1.0. `@name` is an attribute, `#text` the text beside attributes. Characters that XML cannot hold
 * become U+FFFD.
 */
export const buildXml = (document: Record<string, object>): string =>
  (builder ??= openBuilder()).build({ "?xml": { "@version": "1.0", "@encoding": "UTF-8" }, ...document });

/** The text in which characters that XML cannot hold are U+FFFD. */
export const fitForXml = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- these are what XML 1.0 leaves out (its production 2)
  text.toWellFormed().replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "\uFFFD");

/** The text as XML holds it, with references for the `reserved` characters. */
export const escapeXml = (text: string, reserved: RegExp): string =>
  fitForXml(text).replaceAll(reserved, (character) => entities[character] ?? `&#${character.charCodeAt(0)};`);

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

let builder: fastXmlParser.XMLBuilder | undefined;

const openBuilder = (): fastXmlParser.XMLBuilder => {
  const { XMLBuilder } = xmlPackage();
  return new XMLBuilder({
    ignoreAttributes: false,
    attributeNamePrefix: "@",
    format: true,
    suppressEmptyNode: true,
    // XML readers turn raw tabs and line breaks in attributes into blanks, and raw carriage returns in texts into line
    // breaks.
    processEntities: false,
    attributeValueProcessor: (_, value) => escapeXml(String(value), /[&<>\t\n\r]/g),
    tagValueProcessor: (_, value) => escapeXml(String(value), /[&<>\r]/g),
  });
};
