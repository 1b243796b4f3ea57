import { html as template } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

export type Html = HtmlEscapedString;

const dense = new WeakMap<TemplateStringsArray, TemplateStringsArray>();

/** Our templates are indented to be read; a page of forty thousand rows is not. */
const withoutIndent = (strings: TemplateStringsArray): TemplateStringsArray => {
  const known = dense.get(strings);
  if (known) return known;
  const shorter = strings.map((text) => text.replaceAll(/\n\s*/g, "\n")) as unknown as TemplateStringsArray;
  dense.set(strings, shorter);
  return shorter;
};

/** A template whose values are escaped. Nothing here waits for anything, so that the text is there at once. */
export const html = (strings: TemplateStringsArray, ...values: unknown[]): Html =>
  template(withoutIndent(strings), ...values) as Html;
