/** The keys in a query or a form. */
export const keysInForm = (form: string): string[] =>
  /key/i.test(form) || form.includes("%")
    ? [...new URLSearchParams(form)].flatMap(([name, value]) => (isKeyName(name) && value !== "" ? [value] : []))
    : [];

/** Legacy reads the name in any case, and PHP some more ways to write it. */
export const isKeyName = (name: string): boolean => keyName.test(name);

/** Blanks, dots and a bracket within are a `_`; what stands behind a bracket or a NUL is not of the name. */
const keyName = new RegExp(String.raw`^\s*api[_. []key([[\0]|$)`, "i");

/** The keys in the beginning of a multipart form. */
export const keysInParts = (form: string): string[] =>
  [...form.matchAll(inPart)].flatMap(([, value = ""]) => (value === "" ? [] : [value]));

const inPart =
  /name="?\s*api[_. []key(?:\[[^"\r\n]{0,50})?"?[^\r\n]{0,200}\r?\n(?:[^\r\n]{1,200}\r?\n){0,5}\r?\n([^\r\n]{0,64})/gi;

/** The keys in headers, as they are or masked by whoever wrote them down. */
export const keysInHeaders = (headers: Iterable<readonly [name: string, value: string]>): string[] => {
  const keys: string[] = [];
  for (const [name, value] of headers) {
    const header = name.toLowerCase();
    if (header !== "x-api-key" && header !== "authorization") continue;
    const isOther = header === "authorization" && /^(basic|digest|negotiate)\b/i.test(value.trim());
    const key = header === "authorization" ? value.trim().replace(/^bearer(\s+|$)/i, "") : value.trim();
    if (key !== "" && !isOther) keys.push(key);
  }
  return keys;
};
