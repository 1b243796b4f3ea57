/** The keys in a query or a form. */
export const keysInForm = (form: string): string[] =>
  /key/i.test(form) || form.includes("%")
    ? [...new URLSearchParams(form)].flatMap(([name, value]) => (isKeyName(name) && value !== "" ? [value] : []))
    : [];

/** Legacy reads the name in any case, and PHP some more ways to write it. */
export const isKeyName = (name: string): boolean => /^\s*api[_. ]key(\[|$)/i.test(name);

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
