/**
 * The places of members that JSON names twice, which `JSON.parse` hides: in the outermost object, and in the objects directly in it. The
 * text has to be valid JSON. Takes time in proportion to it.
 */
export const repeatedMembers = (json: string): string[][] => {
  const found: string[][] = [];
  /** One entry for each open object or list; lists and what is too deep have no names. */
  const open: { path: string[]; names: Set<string> | undefined }[] = [];
  let member = "";
  for (let i = 0; i < json.length; i++) {
    const sign = json[i];
    if (sign === "{" || sign === "[") {
      const isNamed = sign === "{" && open.every(({ names }) => names) && open.length < 2;
      open.push({ path: open.length === 0 ? [] : [member], names: isNamed ? new Set() : undefined });
    } else if (sign === "}" || sign === "]") open.pop();
    else if (sign === '"') {
      const end = endOfText(json, i);
      const { path, names } = open.at(-1) ?? {};
      if (path && names && isName(json, end)) {
        member = JSON.parse(json.slice(i, end + 1)) as string;
        if (names.has(member)) found.push([...path, member]);
        names.add(member);
      }
      i = end;
    }
  }
  return found;
};

/** The quote that ends the text which begins at `start`: one with an even number of backslashes before it. */
const endOfText = (json: string, start: number): number => {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return end;
  }
};

/** Whether a text is a member's name: a colon follows. */
const isName = (json: string, end: number): boolean => {
  let next = end + 1;
  while (/\s/.test(json[next] ?? "")) next++;
  return json[next] === ":";
};
