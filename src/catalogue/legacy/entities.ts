import { entitiesPackage } from "../rules/parsers.ts";

let loaded: ReturnType<typeof entitiesPackage> | undefined;
const entities = () => (loaded ??= entitiesPackage());

/** Decodes the references that XML has of itself, and numeric ones. */
export const decodeXml = (text: string): string => (text.includes("&") ? entities().decodeXML(text) : text);

/** Decodes all references of HTML that end with a semicolon. */
export const decodeHtml = (text: string): string => entities().decodeHTMLStrict(text);
