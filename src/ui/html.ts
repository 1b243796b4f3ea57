import { html as template } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

export type Html = HtmlEscapedString;

const shorter = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/** Our templates are indented and closed to be read; a page of forty thousand rows needs neither. HTML lets these end tags be left out. */
const shortened = (strings: TemplateStringsArray): TemplateStringsArray => {
  const known = shorter.get(strings);
  if (known) return known;
  const short = strings.map((text) =>
    text
      .replaceAll(/\n\s*/g, "\n")
      .replaceAll(/<\/(?:tr|th|td|dt|dd)>/g, "")
      .replaceAll(/\n(?=<(?:tr|th|td|div|dt|dd)\b)/g, ""),
  ) as unknown as TemplateStringsArray;
  shorter.set(strings, short);
  return short;
};

/** A template whose values are escaped. Nothing here waits for anything, so that the text is there at once. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  template(shortened(strings), ...values) as Html;
