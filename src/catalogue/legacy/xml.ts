import type * as fastXmlParser from "fast-xml-parser";
import { trimmed } from "../rules/blanks.ts";
import { decodeXml, xmlPackage } from "../rules/parsers.ts";
import { isObject, isUnset, type Json, type JsonObject, type Rule } from "../rules/rule.ts";
import { readPlainXml, type Unescaped } from "./plainXml.ts";

/**
 * Reads an XML document into the value of legacy's JSON; `undefined` if it is not well-formed. `harmless`: PHP notices
 * that may precede a complete document.
 */
export type XmlReader = ((xml: string) => JsonObject | undefined) & { harmless?: readonly RegExp[] };

/** No element can have this name; legacy's JSON has `value` in its place. */
const TEXT = "#text";

/** Characters that XML 1.0 does not have, but that the parser accepts. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
const declaration = /^<\?xml[^>]*>\s*/;
/**
 * An `&` that begins no reference, and a `<` that begins neither a tag of legacy nor a comment without tags: legacy did
 * not escape it.
 */
const bareSign = /&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-f]{1,6});)|<(?!\/?oml:|!--[^<]*-->)/gi;
/** Placeholders for bare signs while the document is parsed: characters that no document has. */
const [AMPERSAND, LESS] = ["\uffff", "\ufffe"];
const standIn = /[\ufffe\uffff]/g;

/**
 * A reader of legacy's XML. Elements become members, repeated elements a list, attributes members beside them, text
 * beside attributes `value`, and an empty text `[]`. `markup` names the elements (`study.description`) whose content is
 * text, with its tags. The content of `verbatim` elements is not decoded, and keeps its blanks unless it is `markup`
 * too. Both may have bare `&` and `<`: legacy does not escape them.
 */
export const xmlReader = (markup: readonly string[], verbatim: readonly string[] = []): XmlReader => {
  const unescaped = { asWritten: new Set(verbatim), withMarkup: new Set(markup) };
  const valueOf = (text: string, path: string) => textValue(text, path, unescaped);
  const open = () => {
    const { XMLParser, XMLValidator } = xmlPackage();
    return { validator: XMLValidator, parser: new XMLParser(options) };
  };
  const options: fastXmlParser.X2jOptions = {
    ignoreAttributes: (name) => name.startsWith("xmlns"),
    attributeNamePrefix: "",
    textNodeName: TEXT,
    removeNSPrefix: true,
    parseTagValue: false,
    parseAttributeValue: false,
    processEntities: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    // The parser would remove other blanks than legacy does.
    trimValues: false,
    maxNestedTags: 600,
    stopNodes: [...markup, ...verbatim],
  };
  let opened: ReturnType<typeof open> | undefined;
  return (xml) => {
    if (forbidden.test(xml)) return undefined;
    const written = xml.replace(declaration, "").replaceAll(/\r\n?/g, "\n");
    const escaped = written.replaceAll(bareSign, (sign) => (sign === "&" ? AMPERSAND : LESS));
    const quick = escaped === written ? readPlainXml(written, unescaped, valueOf) : undefined;
    if (quick) return quick;
    const { parser, validator } = (opened ??= open());
    let root: unknown;
    try {
      if (validator.validate(escaped) !== true) return undefined;
      root = parser.parse(escaped);
    } catch {
      // The parser throws for one reason only: it refuses a document (too deep, a reserved name).
      return undefined;
    }
    const document = plain(root as Json, "", valueOf);
    if (escaped !== written && JSON.stringify(document).search(standIn) !== -1) return undefined;
    return isObject(document) && Object.keys(document).length === 1 ? document : undefined;
  };
};

/** The reader for the XML of an endpoint's answers, and of the answers that it reads after an error. */
export const xmlReaderFor = (endpoint: {
  output: Rule;
  harmlessNotices?: readonly RegExp[];
  recover?: { verbatim?: readonly string[] };
}): XmlReader => {
  const { output, harmlessNotices: harmless = [], recover } = endpoint;
  const verbatim = [...verbatimPaths(output), ...(recover?.verbatim ?? [])];
  return Object.assign(xmlReader(markupPaths(output), verbatim), { harmless });
};

/**
 * The value of a text: entities decoded, and blanks removed at both ends, as legacy does where it makes its JSON from
 * its XML. Legacy writes lists by hand in both formats, with the blanks of verbatim texts; these are not markup. Bare
 * signs are put back into the elements that legacy does not escape; elsewhere their placeholders stay.
 */
const textValue = (text: string, path: string, { asWritten, withMarkup }: Unescaped): Json => {
  const mayHoldMarkup = withMarkup.has(path);
  if (asWritten.has(path) && !mayHoldMarkup) return withSigns(text);
  const value = trimmed(asWritten.has(path) ? text : decodeXml(text));
  return (mayHoldMarkup ? withSigns(value) : value) || [];
};

/** The document that the parser read, with the values of its texts. `at`: the path of elements so far. */
const plain = (value: Json, at: string, valueOf: (text: string, path: string) => Json): Json => {
  if (typeof value === "string") return valueOf(value, at);
  if (Array.isArray(value)) return value.map((entry) => plain(entry, at, valueOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const read = plain(member, at === "" ? key : `${at}.${key}`, valueOf);
      if (key !== TEXT) return [[key, read]];
      // Blanks between elements are not text.
      return isUnset(read) ? [] : [["value", read]];
    }),
  );
};

const withSigns = (text: string): string => text.replaceAll(standIn, (sign) => (sign === AMPERSAND ? "&" : "<"));

/**
 * The legacy paths (`study.description`) of the rules that have this flag, read from the tree of rules, so that no
 * separate list can go out of date.
 */
const flaggedPaths = (flag: "markup" | "verbatim", rule: Rule, at: string[] = []): string[] => [
  ...(rule[flag] ? [at.join(".")] : []),
  ...Object.entries(rule.inside ?? {}).flatMap(([place, inner]) =>
    flaggedPaths(flag, inner, [...at, ...stepTo(rule, place, inner)]),
  ),
];

const stepTo = (rule: Rule, place: string, inner: Rule): string[] => {
  if (place === "*") return [];
  if (place === "") return rule.wrapper === undefined ? [] : [rule.wrapper];
  return [inner.from ?? place];
};

/** The paths of texts that may hold markup. */
export const markupPaths = (rule: Rule): string[] => flaggedPaths("markup", rule);

/** The paths of texts that legacy does not escape in its XML. */
export const verbatimPaths = (rule: Rule): string[] => flaggedPaths("verbatim", rule);
