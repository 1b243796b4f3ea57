import { createRequire } from "node:module";
import type * as decoding from "entities/decode";
import type * as fastXmlParser from "fast-xml-parser";

// Parsers that a start does not need are loaded with the first text; as CommonJS each is one file instead of many.
const require = createRequire(import.meta.url);

/** The package that reads and writes XML. */
export const xmlPackage = (): typeof fastXmlParser => require("fast-xml-parser");

let decoders: typeof decoding | undefined;
/** Loading the tables of this package takes 12 ms, so a start does without them. */
const entities = (): typeof decoding => (decoders ??= require("entities/decode") as typeof decoding);

/** Decodes the five named references of XML, and numeric references. */
export const decodeXml = (text: string): string => (text.includes("&") ? entities().decodeXML(text) : text);

/** Decodes all references of HTML that end with a semicolon. */
export const decodeHtml = (text: string): string => entities().decodeHTMLStrict(text);
