import { escapeXml, fitForXml } from "../endpoint/buildXml.ts";
import { type LegacyForm, type LegacyFormat, type Shape, shapeOf } from "../endpoint/legacyForm.ts";
import { trimmed } from "../rules/blanks.ts";
import { entriesOf } from "../rules/compose.ts";
import { isObject, isUnset, type Json, type JsonObject, type Rule } from "../rules/rule.ts";
import { writeBack } from "../rules/writeBack.ts";
import { markupPaths, verbatimPaths } from "./xml.ts";

/** Writes our documents as legacy does, for clients of its interface. */
export type LegacyWriter = {
  /** Our document with legacy's names and values. */
  documentOf: (ours: Json, format: LegacyFormat) => JsonObject;
  /** The text of such a document. */
  write: (document: JsonObject, format: LegacyFormat) => string;
  /**
   * The document that our reader makes of that text, without writing and parsing it. Texts that break legacy's XML stay
   * as legacy has them, although the text that we write escapes them.
   */
  asRead: (document: JsonObject, format: LegacyFormat) => JsonObject;
};

/** The writer for an endpoint's answers, from its tree of rules and legacy's form of its documents. */
export const legacyWriter = (output: Rule, form: LegacyForm): LegacyWriter => {
  const root = shapeOf(form);
  const verbatim = new Set(verbatimPaths(output));
  const markup = new Set(markupPaths(output));
  /** Our reader keeps the blanks of a verbatim text except around markup. */
  const readXml = ({ path }: Shape, value: Json): Json => {
    const text = fitForXml(writtenText(value));
    return verbatim.has(path) && !markup.has(path) ? withLineFeeds(text) : readText(text);
  };
  const readings: Record<LegacyFormat, Reading> = {
    xml: { format: "xml", textOf: readXml },
    json: form.isTemplate
      ? { format: "json", isTemplate: true, textOf: templateValue }
      : { format: "json", textOf: (_, value) => readText(writtenText(value)) },
  };
  const asRead = (document: JsonObject, format: LegacyFormat): JsonObject => ({
    [root.name]: contentOf(root, document[root.name] ?? "", readings[format]),
  });
  return {
    documentOf(ours, format) {
      const legacy = writeBack(output, ours);
      const document = isObject(legacy) ? legacy : {};
      return form.adapt?.(document, format) ?? document;
    },
    asRead,
    write(document, format) {
      if (format === "xml") return `${xmlOf(root, document[root.name] ?? "", verbatim)}\n`;
      const json = JSON.stringify(asRead(document, "json"));
      return form.isTemplate ? json : escapedJson(json);
    },
  };
};

/** The values for which an element is written: none, one or many. */
const valuesFor = ({ constant, times }: Shape, value: Json | undefined): readonly Json[] => {
  if (constant !== undefined) return [constant];
  if (times === "") return [value ?? ""];
  if (times === "?") return value === undefined || (isUnset(value) && value !== "") ? [] : [value];
  const values = entriesOf(value);
  return times === "+" && values.length === 0 ? [""] : values;
};

/** A list stands as one text where legacy has no list. */
const writtenText = (value: Json): string =>
  Array.isArray(value) ? value.map(writtenText).join(",") : isObject(value) || value === null ? "" : String(value);

/** The way in which a reader finds texts and lists in a document. */
type Reading = { format: LegacyFormat; isTemplate?: true; textOf(shape: Shape, value: Json): Json };

const contentOf = (shape: Shape, value: Json, reading: Reading): Json => {
  if (shape.inside === undefined) return reading.textOf(shape, value);
  const { format, isTemplate = false } = reading;
  if (!isObject(value)) return isTemplate ? {} : [];
  const content: JsonObject = {};
  // Our reader puts an element's attributes behind what is inside, legacy's JSON before it.
  const attributes: JsonObject = {};
  for (const inner of shape.inside) {
    if (inner.only !== undefined && inner.only !== format) continue;
    const values = valuesFor(inner, value[inner.name]).map((each) => contentOf(inner, each, reading));
    if (isTemplate && inner.times.startsWith("*")) {
      if (inner.times === "*" || values.length > 0) content[inner.name] = values;
    } else if (values.length > 0 && !(inner.is === "text" && !isTemplate && isUnset(values[0]))) {
      const place = format === "xml" && inner.is === "attribute" ? attributes : content;
      place[inner.name] = values.length === 1 ? (values[0] as Json) : values;
    }
  }
  Object.assign(content, attributes);
  // Legacy makes its JSON from its XML, where an element with nothing inside is an empty list.
  return isTemplate || Object.keys(content).length > 0 ? content : [];
};

const withLineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, "\n");

/** A text of the XML, as it is in legacy's JSON: an empty one is an empty list. */
const readText = (text: string): Json => trimmed(withLineFeeds(text)) || [];

/** A template writes a number without quotes, and a matrix as one list of its numbers. */
const templateValue = ({ isNumber }: Shape, value: Json): Json => {
  if (!isNumber || isUnset(value)) return writtenText(value);
  if (typeof value !== "string" || !value.startsWith("[")) return Number(value);
  return (value.match(/[^[\],\s]+/g) ?? []).map((entry) => (entry === "?" ? entry : Number(entry)));
};

/** A JSON text as PHP's `json_encode` writes it: slashes are escaped, and all that is not ASCII. */
const escapedJson = (json: string): string =>
  json
    .replaceAll("/", String.raw`\/`)
    .replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const xmlOf = ({ name, path, inside }: Shape, value: Json, verbatim: ReadonlySet<string>): string => {
  const start = `<oml:${name}${path === name ? ' xmlns:oml="http://openml.org/openml"' : ""}`;
  if (inside === undefined) return `${start}>${xmlText(writtenText(value), verbatim.has(path))}</oml:${name}>`;
  let [attributes, text, elements] = ["", "", ""];
  for (const inner of isObject(value) ? inside : [])
    for (const each of inner.only === "json" ? [] : valuesFor(inner, (value as JsonObject)[inner.name]))
      if (inner.is === "attribute") attributes += ` ${inner.name}="${escapeXml(writtenText(each), /[&<>"\t\n\r]/g)}"`;
      else if (inner.is === "text") text = xmlText(writtenText(each));
      else elements += `\n${xmlOf(inner, each, verbatim)}`;
  return `${start}${attributes}>${elements === "" ? text : `${elements}\n`}</oml:${name}>`;
};

/** Signs that break XML. */
const bareSign = /<|\]\]>|&(?!(?:amp|lt|gt|quot|apos|#\d+);)/;
const isWellFormed = (text: string): boolean =>
  !bareSign.test(text) && [...text.matchAll(/&#(\d+);/g)].every(([, code]) => isInXml(Number(code)));
const isInXml = (code: number): boolean =>
  code <= 0x10_ff_ff && fitForXml(String.fromCodePoint(code)) === String.fromCodePoint(code);

/** A text in XML. Legacy does not escape a verbatim text, and its clients do not decode it. */
const xmlText = (text: string, isVerbatim = false): string =>
  isVerbatim && isWellFormed(text) ? fitForXml(text) : escapeXml(text, /[&<>"]/g);
