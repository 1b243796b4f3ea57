import { entriesOf } from "../../catalogue/rules/compose.ts";
import { isObject, type Json, type JsonObject } from "../../catalogue/rules/rule.ts";
import type { PrivateRow } from "./found.ts";

/** As legacy's database compares texts (utf8_general_ci): without regard to case, accents and blanks at the end. */
export const collationKey = (text: string): string =>
  text.replace(/ +$/, "").normalize("NFD").replaceAll(/\p{M}/gu, "").replaceAll("ß", "s").toUpperCase();

type Filter = (asked: unknown) => (shown: JsonObject) => boolean;

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const sameText =
  (textsOf: (shown: JsonObject) => (Json | undefined)[]): Filter =>
  (asked) => {
    const text = collationKey(String(asked));
    return (shown) => textsOf(shown).some((one) => collationKey(textOf(one)) === text);
  };

/** A number or `low..high`. */
const within =
  (name: string): Filter =>
  (asked) => {
    const [low = Number.NaN, high = low] = String(asked).split("..").map(Number);
    return ({ quality }) => {
      const found = entriesOf(quality).find((one) => isObject(one) && one["name"] === name);
      const value = Number.parseFloat(textOf(isObject(found) ? found["value"] : undefined));
      return value >= low && value <= high;
    };
  };

/** What each filter of the list requires of a row; the cheap ones come first. */
const filters: Record<string, Filter> = {
  status:
    (asked) =>
    ({ status }) =>
      asked === "all" || textOf(status).toLowerCase() === asked,
  data_version:
    (asked) =>
    ({ version }) =>
      Number(version) === asked,
  number_instances: within("NumberOfInstances"),
  number_features: within("NumberOfFeatures"),
  number_classes: within("NumberOfClasses"),
  number_missing_values: within("NumberOfMissingValues"),
  data_name: sameText(({ name }) => [name]),
  tag: sameText(({ tag }) => entriesOf(tag)),
};

/** The uploader whose datasets a list's input asks for. */
export const uploaderIn = (input: Record<string, unknown>): number | undefined =>
  input["uploader"] as number | undefined;

/** For a list's input: whether legacy would list a row to its owner; `undefined`: too little is known of the row. */
export const rowMatcher = (input: Record<string, unknown>): ((row: PrivateRow) => boolean | undefined) => {
  const ids = input["data_id"] === undefined ? undefined : new Set(input["data_id"] as number[]);
  const wanted = uploaderIn(input);
  const tests = Object.entries(filters).flatMap(([name, filter]) =>
    input[name] === undefined ? [] : [filter(input[name])],
  );
  return ({ id, shown, uploader }) => {
    if (ids?.has(id) === false) return false;
    if (wanted !== undefined && uploader !== undefined && wanted !== uploader) return false;
    if (shown === undefined) return undefined;
    if (!tests.every((test) => test(shown))) return false;
    return wanted !== undefined && uploader === undefined ? undefined : true;
  };
};
