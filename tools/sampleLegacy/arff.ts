import type { DatasetRow } from "./catalogueRows.ts";

/** The most rows of a file: it stays small, whatever the qualities say. */
const MAX_ROWS = 200;

type Feature = NonNullable<DatasetRow["features"]>[number];

const quoted = (text: string): string => (/^[\w.-]+$/.test(text) ? text : JSON.stringify(text));

const typeOf = ({ type, values }: Feature): string =>
  type === "nominal" && values !== undefined ? `{${values.map(quoted).join(",")}}` : type;

const cellOf = ({ type, values }: Feature, row: number, column: number): string => {
  if (type === "nominal" && values !== undefined) return quoted(values[row % values.length] ?? "?");
  return type === "numeric" ? String((row * 7 + column * 3) % 50) : "?";
};

const arff = (relation: string, features: readonly Feature[], rows: number): string =>
  [
    `@relation ${quoted(relation)}`,
    ...features.map((feature) => `@attribute ${quoted(feature.name)} ${typeOf(feature)}`),
    "@data",
    ...Array.from({ length: rows }, (_, row) => features.map((feature, i) => cellOf(feature, row, i)).join(",")),
    "",
  ].join("\n");

/** The invented data of a dataset, as ARFF: as many rows as its qualities say (`instances`), if these are few. */
export const dataOf = ({ name, features = [{ name: "id", type: "numeric" }] }: DatasetRow, instances: number): string =>
  arff(name, features, instances > 0 && instances <= MAX_ROWS ? instances : 5);

/** The splits of a task: ten rows; each of ten folds tests one of them. */
export const splitsOf = (id: number): string =>
  [
    `@relation Task_${id}_splits`,
    "@attribute type {TRAIN,TEST}",
    ...["rowid", "repeat", "fold"].map((name) => `@attribute ${name} numeric`),
    "@data",
    ...Array.from({ length: 100 }, (_, i) => [i % 10, Math.floor(i / 10)] as const).map(
      ([row, fold]) => `${row === fold ? "TEST" : "TRAIN"},${row},0,${fold}`,
    ),
    "",
  ].join("\n");
