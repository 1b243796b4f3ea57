/** The path of a request target, escapes untouched. */
export const pathOf = (target: string): string => {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
};

/** The query of a request target, without its `?` and without a fragment. */
export const queryOf = (target: string): string => {
  const start = target.indexOf("?");
  const fragment = target.indexOf("#");
  if (start === -1 || (fragment !== -1 && fragment < start)) return "";
  return target.slice(start + 1, fragment === -1 ? undefined : fragment);
};

/** True for the methods of a read (RFC 9110, section 9.2.1). */
export const isReadMethod = (method: string | undefined): boolean => method === "GET" || method === "HEAD";
