/** The path of a request target, escapes untouched: one parse for routing, keys and whatever is sent on. */
export const pathOf = (target: string): string => {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
};

/** The query of a request target, without its `?`; what follows a `#` is none of it. */
export const queryOf = (target: string): string => {
  const [beforeFragment = ""] = target.split("#", 1);
  const start = beforeFragment.indexOf("?");
  return start === -1 ? "" : beforeFragment.slice(start + 1);
};

/** Whether a path lies below a prefix; `/v1` covers `/v1` and `/v1/x`, not `/v1x`. */
export const isBelow = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 47);
