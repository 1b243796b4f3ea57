/** An element that holds other elements, or text. */
export type Element = { name: string; attributes?: Record<string, string>; children?: Element[]; text?: string };

/** A document in XML 1.0; characters that no XML can hold become U+FFFD. */
export const xml = (root: Element): string => `<?xml version="1.0" encoding="UTF-8"?>\n${written(root, "")}`;

const written = ({ name, attributes = {}, children = [], text = "" }: Element, indent: string): string => {
  const opening = [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escaped(value)}"`)].join(" ");
  const inside = children.map((child) => written(child, `${indent}  `)).join("");
  if (inside === "" && text === "") return `${indent}<${opening}/>\n`;
  return inside === ""
    ? `${indent}<${opening}>${escaped(text, /[&<>\r]/g)}</${name}>\n`
    : `${indent}<${opening}>\n${inside}${indent}</${name}>\n`;
};

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Line breaks and tabs too where a reader would make blanks of them. */
const escaped = (text: string, reserved = /[&<>"\t\n\r]/g): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex -- these are what XML 1.0 leaves out (its production 2)
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "\uFFFD")
    .replaceAll(reserved, (character) => escapes[character] ?? `&#${character.charCodeAt(0)};`);
