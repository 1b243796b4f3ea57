import { createRequire } from "node:module";
import type * as decoding from "entities/decode";
import type * as fastXmlParser from "fast-xml-parser";

// Parsers that a start does not need are loaded with the first text; as CommonJS each is one file instead of many.
const require = createRequire(import.meta.url);

/** The package that reads and writes XML. */
export const xmlPackage = (): typeof fastXmlParser => require("fast-xml-parser");

/** The package that decodes entities: its tables take 12 ms of a start. */
export const entitiesPackage = (): typeof decoding => require("entities/decode");
