import { html as template } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

/** HTML that is safe to be put into a template as it is. */
export type Html = HtmlEscapedString;

const shorter = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/**
 * A template without its indentation, and without end tags that HTML allows to omit: a page may
 * have forty thousand rows.
 */
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

/** A template whose values are escaped. No value may be a promise: the result is a string. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  template(shortened(strings), ...values) as Html;
