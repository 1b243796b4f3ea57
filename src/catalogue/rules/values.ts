import { z } from "zod";
import { parseJson } from "./parseJson.ts";
import { around, withDescription, isShallow, isUnset, type Json, rule, type Rule } from "./rule.ts";

/** Text stays text, whatever it looks like: `"2019"` is not a year. */
export const text: Rule<string> = rule("text", 'text stays text: `"2019"` -> `"2019"`', z.string(), (legacy) => legacy);

/** `"61"` -> `61` */
export const integer: Rule<number> = rule("integer", '`"61"` -> `61`', z.int(), (legacy) => {
  if (typeof legacy !== "string" || !/^-?\d+$/.test(legacy)) return legacy;
  const value = Number(legacy);
  // Above 2^53 the digits would change: the value stays text, which the schema refuses.
  return Number.isSafeInteger(value) ? value + 0 : legacy;
});

/** Digits can match in one way only: `\d+\.?\d*` would try every split of them, in quadratic time. */
const isNumeric = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** Reads a text as a finite number; any other text is `null`. */
const numberIn = (written: string): number | null => {
  const value = isNumeric.test(written) ? Number(written) : Number.NaN;
  return Number.isFinite(value) ? value : null;
};

/** `"898.0"` -> `898`, `"NaN"` and `""` -> `null` */
export const number: Rule<number | null> = rule(
  "number",
  '`"898.0"` -> `898`; a text with no number in it (`"NaN"`, `""`) -> `null`',
  withDescription(z.number().nullable(), "`null`: there is no finite number."),
  (legacy) => {
    if (legacy === undefined || (Array.isArray(legacy) && legacy.length === 0)) return null;
    return typeof legacy === "string" ? numberIn(legacy) : legacy;
  },
);

/** A number that legacy has as Java writes it: `898.0`, `1.0E-4`. */
export const javaNumber: Rule<number | null> = {
  ...number,
  write(ours) {
    if (typeof ours !== "number") return undefined;
    const size = Math.abs(ours);
    const isPlain = size === 0 || (size >= 1e-3 && size < 1e7);
    const [digits = "", exponent] = (isPlain ? String(ours) : ours.toExponential()).split("e");
    return `${digits.includes(".") ? digits : `${digits}.0`}${exponent === undefined ? "" : `E${Number(exponent)}`}`;
  },
};

/** `"true"` -> `true` */
export const boolean: Rule<boolean> = rule("boolean", '`"true"` -> `true`', z.boolean(), (legacy) =>
  legacy === "true" ? true : legacy === "false" ? false : legacy,
);

/** `"2021-04-04 04:04:04"` -> `"2021-04-04T04:04:04"` */
export const timestamp: Rule<string> = rule(
  "timestamp",
  '`"2021-04-04 04:04:04"` -> `"2021-04-04T04:04:04"`',
  withDescription(
    z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?\S*$/),
    "A date and a time: `<date>T<time>`.",
  ),
  (legacy) =>
    typeof legacy === "string" && legacy[10] === " " ? legacy.replace(/^(\d{4}-\d{2}-\d{2}) +(?=\d)/, "$1T") : legacy,
  (ours) => (typeof ours === "string" ? ours.replace("T", " ") : ours),
);

/** A timestamp that legacy writes with its `T`. */
export const isoTimestamp: Rule<string> = { ...timestamp, write: (ours) => ours };

/** `"Sparse_ARFF"` -> `"sparse_arff"` */
export const lowercase: Rule<string> = rule(
  "lowercase",
  '`"Sparse_ARFF"` -> `"sparse_arff"`',
  withDescription(z.string().regex(/^[^A-Z]*$/), "In lower case."),
  (legacy) => (typeof legacy === "string" ? legacy.toLowerCase() : legacy),
);

/** Text that legacy puts into its XML unescaped: if that made an object of it, the text is taken from the XML. */
export const markup: Rule<string> = {
  ...rule("markup", "a text with markup in it stays a text, as the XML form has it", z.string(), (legacy) => legacy),
  markup: true,
};

/**
 * A text that legacy escapes in neither format: it is taken from the XML as it is written, entities included. Blanks
 * around it stay in a list, as in legacy's JSON; around markup, which belongs to a document, legacy's JSON has none.
 */
export const verbatim = <T>(inner: Rule<T>): Rule<T> => ({
  name: "verbatim",
  does: "a text that legacy does not escape reads the same in both of its forms: `R&amp;D` -> `R&amp;D`",
  schema: withDescription(inner.schema, inner.schema.description, "HTML entities in it are not decoded."),
  ...around(inner, verbatim),
  verbatim: true,
  read: (legacy, note, parent) => inner.read(legacy, note, parent),
});

/** `"[[1,2],[3,?]]"` -> `[[1, 2], [3, null]]`, with at most `levels` lists inside each other; unset -> `[]`. */
export const numberList = (levels: number): Rule<Json[]> =>
  rule(
    "numberList",
    'a text that holds a list of numbers -> the list, nested as it is: `"[0.5,?]"` -> `[0.5, null]`; an unset one -> `[]`',
    withDescription(
      z.custom<Json[]>((value) => Array.isArray(value) && areNumbers(value, levels)),
      "A list of numbers or of such lists; `null` stands for what is no number.",
    ),
    (legacy) => {
      if (isUnset(legacy)) return Array.isArray(legacy) ? legacy : [];
      if (typeof legacy !== "string") return legacy;
      const value = parseJson(legacy.replaceAll(/[^[\],\s]+/g, (entry) => String(numberIn(entry))));
      return Array.isArray(value) ? value : legacy;
    },
    (ours) => (isUnset(ours) ? undefined : JSON.stringify(ours).replaceAll("null", "?")),
  );

const areNumbers = (list: unknown[], levels: number): boolean =>
  levels > 0 &&
  list.every((entry) =>
    Array.isArray(entry) ? areNumbers(entry, levels - 1) : entry === null || typeof entry === "number",
  );

/** Levels of a list entry that legacy's document holds as a text. */
const MAX_LEVELS = 16;

/** `"[[0, 1], [2, 0]]"` -> `[[0, 1], [2, 0]]`; any other text stays unchanged. */
export const jsonList: Rule<Json[] | string> = rule(
  "jsonList",
  'a text that holds a JSON list -> the list: `"[[0, 1]]"` -> `[[0, 1]]`; an unset one -> `[]`',
  withDescription(
    z.union([z.string(), z.array(z.custom<Json>((value) => isShallow(value as Json, MAX_LEVELS)))]),
    "A list, or a text that is no JSON list.",
  ),
  (legacy) => {
    if (isUnset(legacy)) return Array.isArray(legacy) ? legacy : [];
    const value = typeof legacy === "string" ? parseJson(legacy) : undefined;
    return Array.isArray(value) ? value : legacy;
  },
  (ours) => (Array.isArray(ours) ? (isUnset(ours) ? "" : JSON.stringify(ours)) : ours),
);
