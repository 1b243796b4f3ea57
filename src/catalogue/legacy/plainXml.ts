import type { Json, JsonObject } from "../rules/rule.ts";

/** The elements, by their paths, whose content is taken as it is written, and those that may hold markup. */
export type Unescaped = { asWritten: ReadonlySet<string>; withMarkup: ReadonlySet<string> };

/** The place of elements in a document: made once for all rows of a list. */
type ElementPlace = { name: string; path: string; mayHoldMarkup: boolean; below: Map<string, ElementPlace> };

/** An open element: its members so far, and which of them are lists. */
type Open = { place: ElementPlace; members?: JsonObject; lists?: Set<string> };

/** The deepest nesting of elements. */
const MAX_OPEN = 100;
// Legacy's names are shorter. Very long names of a path would be joined for each of its elements.
const opening = /^<oml:([a-z_]{1,64}) xmlns:oml="[^"<>&]*">/;
const tag = /<(\/?)oml:([a-z_]{1,64})>/y;
/** The blanks of XML: JavaScript's `trim` removes further characters. */
const isBlank = (text: string): boolean => /^[ \t\r\n]*$/.test(text);
/** Names that every object already has; no document should use them. */
const isReserved = (name: string): boolean => name in {} || name === "prototype";

/**
 * Reads the plainest of legacy's XML, for long lists in a fraction of a parser's time: elements without attributes,
 * each with either elements or a text in it. `textOf` makes the value of a text, by the path of its element.
 * `undefined` for anything else, well-formed or not: the parser reads that.
 */
export const readPlainXml = (
  xml: string,
  unescaped: Unescaped,
  textOf: (text: string, path: string) => Json,
): JsonObject | undefined => {
  const [start, root] = opening.exec(xml) ?? [];
  if (start === undefined || root === undefined || isReserved(root)) return undefined;
  const placeOf = (name: string, path: string): ElementPlace => {
    const mayHoldMarkup = unescaped.asWritten.has(path) || unescaped.withMarkup.has(path);
    return { name, path, mayHoldMarkup, below: new Map() };
  };
  const open: Open[] = [{ place: placeOf(root, root) }];
  let from = start.length;
  for (let at = xml.indexOf("<", from); at !== -1; at = xml.indexOf("<", from)) {
    tag.lastIndex = at;
    const [, slash, name] = tag.exec(xml) ?? [];
    const current = open.at(-1);
    if (name === undefined || current === undefined) return undefined;
    const text = xml.slice(from, at);
    from = tag.lastIndex;
    if (slash === "") {
      const { path, mayHoldMarkup, below } = current.place;
      if (mayHoldMarkup || !isBlank(text) || open.length >= MAX_OPEN) return undefined;
      let place = below.get(name);
      if (place === undefined) {
        if (isReserved(name)) return undefined;
        below.set(name, (place = placeOf(name, `${path}.${name}`)));
      }
      current.members ??= {};
      open.push({ place });
      continue;
    }
    if (name !== current.place.name || (current.members !== undefined && !isBlank(text))) return undefined;
    const value = current.members ?? textOf(text, current.place.path);
    open.pop();
    const around = open.at(-1);
    if (around === undefined) return isBlank(xml.slice(from)) ? { [name]: value } : undefined;
    addMember(around, name, value);
  }
  return undefined;
};

/** The second value of a name makes a list of its values. */
const addMember = (element: Open, name: string, value: Json): void => {
  const members = (element.members ??= {});
  if (!Object.hasOwn(members, name)) members[name] = value;
  else if (element.lists?.has(name)) (members[name] as Json[]).push(value);
  else {
    members[name] = [members[name] as Json, value];
    (element.lists ??= new Set()).add(name);
  }
};
