import { createRequire } from "node:module";
import type * as decoding from "entities/decode";

let loaded: typeof decoding | undefined;

/** The package is loaded with the first text: its tables take 12 ms of a start. */
const entities = (): typeof decoding => (loaded ??= createRequire(import.meta.url)("entities/decode"));

/** Decodes the references that XML has of itself, and numeric ones. */
export const decodeXml = (text: string): string => (text.includes("&") ? entities().decodeXML(text) : text);

/** Decodes all references of HTML that end with a semicolon. */
export const decodeHtml = (text: string): string => entities().decodeHTMLStrict(text);
