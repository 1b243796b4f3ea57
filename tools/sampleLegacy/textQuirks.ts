import { encodeNonAsciiHTML } from "entities";

/** PHP's is_numeric, for a path segment. */
export const isNumeric = (text: string): boolean => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);

// Every character has a single weight. Only composed letters lose their accent: an accent that stands alone counts.
const weight = (character: string): string =>
  character === "ß" ? "S" : (character.normalize("NFD")[0] ?? "").toUpperCase();

/** The database's collation (utf8_general_ci): case, accents and trailing blanks do not count. */
const collationKey = (text: string): string => Array.from(text.replace(/ +$/, ""), weight).join("");

/** True if the database treats two texts as equal. */
export const isSameText = (a: string, b: string): boolean => collationKey(a) === collationKey(b);

/** PHP's htmlentities: letters also become names, which HTML knows but XML does not. */
export const htmlEntities = (text: string): string => text.replaceAll(/[&<>"\u00a0-\u00ff]/g, encodeNonAsciiHTML);

const escapes = /(?:%[0-9a-f]{2})+/gi;

const decodeOnce = (text: string): string =>
  text.replaceAll(escapes, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString());

/** Applies legacy's filter against scripts to a form field: it decodes until the text no longer changes. */
export const cleanInput = (field: string): string => {
  const decoded = decodeOnce(field);
  if (decoded !== field) return cleanInput(decoded);
  return field
    .replaceAll(/<\/?script[^>]*>/gi, "[removed]")
    .replaceAll(/\b(alert|prompt|confirm|eval|exec|system|fopen|unlink)\((.*?)\)/gi, "$1&#40;$2&#41;");
};
