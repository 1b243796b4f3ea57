/** Adds to a flat list of headers what is not there: of `Link` another one, of the others only where there is none. */
export const addHeaders = (headers: string[], more: readonly string[]): void => {
  const before = headers.length;
  for (let i = 0; i + 1 < more.length; i += 2) {
    const [name = "", value = ""] = [more[i], more[i + 1]];
    if (!isThere(headers, before, name.toLowerCase(), value)) headers.push(name, value);
  }
};

const isThere = (headers: readonly string[], before: number, name: string, value: string): boolean => {
  for (let i = 0; i + 1 < before; i += 2)
    if (headers[i]?.toLowerCase() === name && (name !== "link" || headers[i + 1] === value)) return true;
  return false;
};
