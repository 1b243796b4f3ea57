import type { Json } from "../../rules/rule.ts";
import { truncate } from "../../scrub/truncate.ts";

/** Characters of a value that are shown. */
export const MAX_VALUE = 60;

/** A text inside a cell of a table: no bar ends the cell, no line break the row. */
export const cell = (text: string): string => text.replaceAll("|", String.raw`\|`).replaceAll(/\s+/g, " ");

/** A text as code in a cell. */
export const codeCell = (text: string): string =>
  text.includes("`") ? `\`\` ${cell(text)} \`\`` : `\`${cell(text)}\``;

/** A value as code, cut. */
export const shown = (value: Json | undefined): string =>
  value === undefined ? "absent" : codeCell(truncate(JSON.stringify(value), MAX_VALUE));

/** A table under these heads; nothing where it has no rows. */
export const tables = (rows: string[][], ...heads: string[]): string[] => {
  if (rows.length === 0) return [];
  const lines = [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [lines.join("\n")];
};
