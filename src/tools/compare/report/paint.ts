import { styleText } from "node:util";
import type { ResultName } from "../../../compare/results.ts";

const styles = {
  equal: "reset",
  explained: "green",
  expected: "magenta",
  drift: "yellow",
  unexplained: ["bold", "red"],
  failed: ["bold", "inverse"],
  quiet: "dim",
} as const satisfies Record<ResultName | "quiet", Parameters<typeof styleText>[0]>;

export type Paint = (style: keyof typeof styles, text: string) => string;

/** Colours a text, or leaves it as it is. */
export const painted =
  (colour: boolean): Paint =>
  (style, text) =>
    colour ? styleText(styles[style], text, { validateStream: false }) : text;

/** A text that cannot drive the terminal: an escape is written out as `\u{1b}`. */
export const plainText = (text: string): string =>
  text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
