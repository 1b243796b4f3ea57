/** The path of a request target, escapes untouched. */
export const pathOf = (target: string): string => {
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
};

/** The query of a request target, without its `?` and without a fragment. */
export const queryOf = (target: string): string => {
  const [beforeFragment = ""] = target.split("#", 1);
  const start = beforeFragment.indexOf("?");
  return start === -1 ? "" : beforeFragment.slice(start + 1);
};
