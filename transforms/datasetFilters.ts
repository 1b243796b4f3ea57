import { entriesOf, type Json, type JsonObject, member, type RowTest } from "../src/catalogue/index.ts";
import { textOf } from "./datasetRow.ts";

/** The key by which legacy's database (utf8_general_ci) compares texts: without case, accents and blanks at the end. */
export const collationKey = (text: string): string =>
  text.replace(/ +$/, "").normalize("NFD").replaceAll(/\p{M}/gu, "").replaceAll("ß", "s").toUpperCase();

/** A test of the values that a list shows of a row; they may be unknown. */
const ofShown =
  (holds: (shown: JsonObject) => boolean): RowTest =>
  ({ shown }) =>
    shown && holds(shown);

const sameText =
  (textsOf: (shown: JsonObject) => (Json | undefined)[]) =>
  (asked: string): RowTest => {
    const text = collationKey(asked);
    return ofShown((shown) => textsOf(shown).some((value) => collationKey(textOf(value)) === text));
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

/** The field asks for a page, not for certain rows. */
const anyRow = () => (): true => true;

/**
 * The condition that each field of the list of datasets sets for a row, as legacy's list does for its owner; the cheap
 * tests come first.
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
