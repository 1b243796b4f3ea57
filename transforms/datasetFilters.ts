import { entriesOf, type Json, type JsonObject, member, type RowTest } from "../src/catalogue/index.ts";

/** As legacy's database compares texts (utf8_general_ci): without regard to case, accents and blanks at the end. */
export const collationKey = (text: string): string =>
  text.replace(/ +$/, "").normalize("NFD").replaceAll(/\p{M}/gu, "").replaceAll("ß", "s").toUpperCase();

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** A test of what a list shows of a row, which may be unknown. */
const ofShown =
  (holds: (shown: JsonObject) => boolean): RowTest =>
  ({ shown }) =>
    shown && holds(shown);

const sameText =
  (textsOf: (shown: JsonObject) => (Json | undefined)[]) =>
  (asked: string): RowTest => {
    const text = collationKey(asked);
    return ofShown((shown) => textsOf(shown).some((one) => collationKey(textOf(one)) === text));
  };

/** A number or `low..high`. */
const within =
  (name: string) =>
  (asked: string): RowTest => {
    const [low = Number.NaN, high = low] = asked.split("..").map(Number);
    return ofShown(({ quality }) => {
      const entry = entriesOf(quality).find((each) => member(each, "name") === name);
      const value = Number.parseFloat(textOf(member(entry, "value")));
      return value >= low && value <= high;
    });
  };

/** It asks for a page, not for certain rows. */
const anyRow = () => (): true => true;

/**
 * What each field of the list of datasets requires of a row, as legacy's list does for its owner;
 * the cheap ones come first.
 */
export const datasetFilters = {
  limit: anyRow,
  offset: anyRow,
  data_id: (asked: number[]): RowTest => {
    const ids = new Set(asked);
    return ({ id }) => ids.has(id);
  },
  uploader:
    (asked: number): RowTest =>
    ({ uploader }) =>
      uploader === undefined ? undefined : uploader === asked,
  status: (asked: string) => ofShown(({ status }) => asked === "all" || textOf(status).toLowerCase() === asked),
  data_version: (asked: number) => ofShown(({ version }) => Number(version) === asked),
  number_instances: within("NumberOfInstances"),
  number_features: within("NumberOfFeatures"),
  number_classes: within("NumberOfClasses"),
  number_missing_values: within("NumberOfMissingValues"),
  data_name: sameText(({ name }) => [name]),
  tag: sameText(({ tag }) => entriesOf(tag)),
};
