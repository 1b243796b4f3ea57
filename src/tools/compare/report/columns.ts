import { styleText } from "node:util";
import type { ResultName } from "../../../compare/results.ts";
import { truncate } from "../../../scrub/truncate.ts";

type Columns = {
  /** The heads, and shorter ones for a narrow terminal. */
  heads: readonly (readonly string[])[];
  rows: readonly (readonly string[])[];
  /** The columns of numbers. */
  right: readonly number[];
  width: number;
  /** Paints a cell after it was padded; line 0 is the head. */
  paint: (cell: string, column: number, line: number) => string;
};

const GAP = 2;

/** A table as wide as its cells. In a narrow terminal it has shorter heads, then its widest texts are cut. */
export const columns = ({ heads, rows, right, width, paint }: Columns): string[] => {
  const plainRows = rows.map((cells) => cells.map(plainText));
  const tables = heads.map((head) => [head, ...plainRows]);
  const table = tables.find((lines) => sum(widthsOf(lines)) <= width) ?? tables.at(-1) ?? [];
  const widths = narrowed(widthsOf(table), right, width);
  return table.map((cells, line) =>
    cells
      .map((cell, column) => {
        const most = widths[column] ?? 0;
        const cut = truncate(cell, most);
        const isLast = column === cells.length - 1;
        const padded = right.includes(column) ? cut.padStart(most) : isLast ? cut : cut.padEnd(most);
        return paint(padded, column, line);
      })
      .join(" ".repeat(GAP)),
  );
};

const widthsOf = (lines: readonly (readonly string[])[]): number[] =>
  (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));

const sum = (widths: readonly number[]): number =>
  widths.reduce((total, one) => total + one, 0) + GAP * (widths.length - 1);

/** Narrows the widest column of text until the table fits, or until no column can be narrowed. */
const narrowed = (widths: readonly number[], right: readonly number[], width: number): number[] => {
  const narrow = [...widths];
  const texts = narrow.map((_, column) => column).filter((column) => !right.includes(column));
  while (sum(narrow) > width) {
    const widest = texts.reduce((a, b) => ((narrow[b] as number) > (narrow[a] as number) ? b : a));
    if ((narrow[widest] as number) <= 3) break;
    narrow[widest] = (narrow[widest] as number) - 1;
  }
  return narrow;
};

const styles = {
  equal: "reset",
  explained: "green",
  expected: "magenta",
  drift: "yellow",
  unexplained: ["bold", "red"],
  failed: ["bold", "inverse"],
  quiet: "dim",
} as const satisfies Record<ResultName | "quiet", Parameters<typeof styleText>[0]>;

/** Gives a text the style of a result. */
export type Paint = (style: keyof typeof styles, text: string) => string;

/** Colours texts, or leaves them unchanged. */
export const painted =
  (colour: boolean): Paint =>
  (style, text) =>
    colour ? styleText(styles[style], text, { validateStream: false }) : text;

/** A text without control characters, which could drive the terminal: an escape becomes `\u{1b}`. */
export const plainText = (text: string): string =>
  text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
