import type { Json } from "../../rules/rule.ts";

/** Characters of a value that are shown. */
export const MAX_VALUE = 60;

/** A text inside a cell of a table: no bar ends the cell, no line break the row. */
export const cell = (text: string): string => text.replaceAll("|", String.raw`\|`).replaceAll(/\s+/g, " ");

/** A text as code in a cell. */
export const code = (text: string): string => (text.includes("`") ? `\`\` ${cell(text)} \`\`` : `\`${cell(text)}\``);

/** A text of at most `most` characters, the last of them an ellipsis where it is longer. */
export const cut = (text: string, most = MAX_VALUE): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

/** A value as code, cut. */
export const shown = (value: Json | undefined): string =>
  value === undefined ? "absent" : code(cut(JSON.stringify(value)));

/** A table under these heads; nothing where it has no rows. */
export const tables = (rows: string[][], ...heads: string[]): string[] => {
  if (rows.length === 0) return [];
  const lines = [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [lines.join("\n")];
};
