/**
 * A document of legacy, from which its XML and its JSON are written: elements by name, in their order. `@name` is an
 * attribute, `#` the text beside it. Legacy does not escape the text of `!name`. `null` and `undefined` are left out, a
 * list repeats its element.
 */
export type Tree = { [name: string]: Content };
type Content = Item | null | undefined | Content[];
type Item = string | number | boolean | Tree;

/** The blanks around the elements, which differ between legacy's templates. */
export type XmlLayout = { newline?: string; indent?: string };

/** Legacy's script died: the answer is empty. */
export class ScriptDied extends Error {}

/** Escapes as PHP's htmlspecialchars does: the five characters of XML except the apostrophe. */
export const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The text of a content; empty for a content with elements. */
export const textIn = (content: Content): string => (typeof content === "object" ? "" : String(content ?? ""));

const xmlOf = (key: string, content: Content, margin: string, indent: string, attributes = ""): string => {
  if (content === null || content === undefined) return "";
  if (Array.isArray(content)) return content.map((item) => xmlOf(key, item, margin, indent)).join("");
  const [name, escape] = key.startsWith("!") ? [key.slice(1), String] : [key, escapeXml];
  const tree = typeof content === "object" ? content : { "#": content };
  let [head, inside] = [`<oml:${name}${attributes}`, ""];
  for (const [it, value] of Object.entries(tree)) {
    if (it === "#") inside += escape(textIn(value));
    else if (it.startsWith("@")) head += ` ${it.slice(1)}="${escapeXml(textIn(value))}"`;
    else inside += xmlOf(it, value, margin + indent, indent);
  }
  return `${margin}${head}>${inside}${"#" in tree ? "" : margin}</oml:${name}>`;
};

/** A document as legacy's XML: no prolog, a single prefix, a line for each element. */
export const renderXml = (document: Tree, { newline = "\n", indent = "  " }: XmlLayout = {}): string => {
  const [[root, content] = ["", ""]] = Object.entries(document);
  const xml = xmlOf(root, content, newline, indent, ' xmlns:oml="http://openml.org/openml"');
  return xml.slice(newline.length) + newline;
};

type TreeJson = string | TreeJson[] | { [key: string]: TreeJson };

// eslint-disable-next-line no-control-regex -- these are the characters that XML 1.0 cannot hold
const notXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
const phpBlanks = /^[ \t\n\r\v]+|[ \t\n\r\v]+$/g;

/** A text in legacy's JSON: legacy writes its XML and parses it again, and dies if that is not well-formed. */
const trimmed = (text: string): string => {
  if (notXml.test(text)) throw new ScriptDied();
  return text.replaceAll("\r\n", "\n").replaceAll(phpBlanks, "");
};

/** No element: absent. One: itself. More: a list. No text: `[]`. Attributes come first, text beside them is `value`. */
const jsonOf = (content: Item): TreeJson => {
  const { "#": text = "", ...tree }: Tree = typeof content === "object" ? content : { "#": content };
  const value = trimmed(textIn(text));
  const fields = Object.entries(tree).flatMap(([key, inside]): [string, TreeJson][] => {
    if (key.startsWith("@")) return [[key.slice(1), textIn(inside)]];
    const all = [inside].flat().filter((item) => item !== null && item !== undefined) as Item[];
    const [first, ...others] = all.map((item) => jsonOf(key.startsWith("!") ? treeOf(readMarkup(textIn(item))) : item));
    return first === undefined ? [] : [[key.replace("!", ""), others.length === 0 ? first : [first, ...others]]];
  });
  if (fields.length === 0) return value === "" ? [] : value;
  return { ...Object.fromEntries(fields), ...(value === "" ? {} : { value }) };
};

/**
 * A document as legacy's JSON, which is PHP's json_encode: slashes and everything beyond ASCII escaped.
 *
 * @throws A `ScriptDied` for a text that XML cannot hold.
 */
export const renderJson = (document: Tree): string =>
  JSON.stringify(jsonOf(document))
    .replaceAll("/", "\\/")
    .replaceAll(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** An element after parsing, without its attributes. */
type Markup = { name: string; text: string; children: Markup[] };

const tokens = /<(\/?)([a-z][\w.-]*)>|&(amp|lt|gt|quot|apos);|&#(\d+);|[^<&]+|[<&]/giy;
const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Parses a text that was never escaped as XML; `undefined` if it is not well-formed. */
const parseMarkup = (text: string): Markup | undefined => {
  const root: Markup = { name: "", text: "", children: [] };
  const open = [root];
  for (const [token, slash, tag, entity, code] of text.matchAll(tokens)) {
    const current = open.at(-1) ?? root;
    if (tag && slash) {
      if (open.length === 1 || current.name !== tag) return undefined;
      open.pop();
    } else if (tag) {
      const child = { name: tag, text: "", children: [] };
      current.children.push(child);
      open.push(child);
    } else if (token === "<" || token === "&") {
      return undefined;
    } else {
      current.text += entity ? (entities[entity] ?? "") : code ? String.fromCodePoint(Number(code)) : token;
    }
  }
  return open.length === 1 ? root : undefined;
};

const readMarkup = (text: string): Markup => {
  const read = parseMarkup(text);
  if (!read) throw new ScriptDied();
  return read;
};

const treeOf = ({ text, children }: Markup): Tree => {
  const groups = Map.groupBy(children, ({ name }) => name);
  return { ...Object.fromEntries([...groups].map(([name, all]) => [name, all.map(treeOf)])), "#": text };
};

/** The elements of an uploaded document; `undefined` if its root has another name. */
export const readUpload = (name: string, xml: string): Markup[] | undefined => {
  const plain = xml
    .replace(/^\s*<\?xml[^>]*\?>/, "")
    .replaceAll(/<oml:(\w+)[^>]*\/>/g, "<$1></$1>")
    .replaceAll(/<(\/?)oml:(\w+)[^>]*>/g, "<$1$2>");
  const root = parseMarkup(plain.trim())?.children[0];
  return root?.name === name ? root.children : undefined;
};
